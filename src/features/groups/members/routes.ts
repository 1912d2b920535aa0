import { memberEndpoints } from '../../access/members/endpoints.ts'
import { groupMount } from '../people.ts'

export const { list, listAll, getFromAll, get, create, update, destroy } = memberEndpoints(groupMount)
