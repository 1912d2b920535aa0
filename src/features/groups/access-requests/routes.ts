import { accessRequestEndpoints } from '../../access/access-requests/endpoints.ts'
import { groupMount } from '../people.ts'

export const { list, create, approve, destroy } = accessRequestEndpoints(groupMount)
