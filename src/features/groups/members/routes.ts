import { memberEndpoints } from '../../access/members/endpoints.ts'
import { groupScope } from '../people.ts'

export const { list, listAll, getFromAll, get, create, update, destroy } = memberEndpoints(groupScope)
