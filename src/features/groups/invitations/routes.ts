import { invitationEndpoints } from '../../access/invitations/endpoints.ts'
import { groupScope } from '../scope.ts'

export const { list, create, update, destroy } = invitationEndpoints(groupScope)
