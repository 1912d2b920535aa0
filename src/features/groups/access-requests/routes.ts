import { accessRequestEndpoints } from '../../access/access-requests/endpoints.ts'
import { groupScope } from '../scope.ts'

export const { list, create, approve, destroy } = accessRequestEndpoints(groupScope)
