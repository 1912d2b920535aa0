import { accessRequestEndpoints } from '../../access/access-requests/endpoints.ts'
import { groupDoor } from '../people.ts'

export const { list, create, approve, destroy } = accessRequestEndpoints(groupDoor)
