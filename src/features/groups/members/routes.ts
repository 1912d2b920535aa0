import { memberEndpoints } from '../../access/members/endpoints.ts'
import { groupDoor } from '../people.ts'

export const { list, listAll, getFromAll, get, create, update, destroy } = memberEndpoints(groupDoor)
