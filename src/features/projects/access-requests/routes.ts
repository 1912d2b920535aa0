import { accessRequestEndpoints } from '../../access/access-requests/endpoints.ts'
import { projectMount } from '../people.ts'

export const { list, create, approve, destroy } = accessRequestEndpoints(projectMount)
