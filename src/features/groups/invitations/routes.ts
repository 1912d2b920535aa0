import { invitationEndpoints } from '../../access/invitations/endpoints.ts'
import { groupMount } from '../people.ts'

export const { list, create, update, destroy } = invitationEndpoints(groupMount)
