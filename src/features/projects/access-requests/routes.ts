import { accessRequestEndpoints } from '../../access/access-requests/endpoints.ts'
import { projectScope } from '../scope.ts'

export const { list, create, approve, destroy } = accessRequestEndpoints(projectScope)
