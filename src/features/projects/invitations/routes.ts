import { invitationEndpoints } from '../../access/invitations/endpoints.ts'
import { projectScope } from '../scope.ts'

export const { list, create, update, destroy } = invitationEndpoints(projectScope)
