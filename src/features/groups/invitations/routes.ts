import { invitationEndpoints } from '../../access/invitations/endpoints.ts'
import { groupDoor } from '../people.ts'

export const { list, create, update, destroy } = invitationEndpoints(groupDoor)
