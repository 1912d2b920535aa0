import { memberEndpoints } from '../../access/members/endpoints.ts'
import { groupScope } from '../scope.ts'

export const { list, listAll, getFromAll, get, create, update, destroy, restore } = memberEndpoints(groupScope)
