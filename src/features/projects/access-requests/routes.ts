import { accessRequestEndpoints } from '../../access/access-requests/endpoints.ts'
import { projectDoor } from '../people.ts'

export const { list, create, approve, destroy } = accessRequestEndpoints(projectDoor)
