import { invitationEndpoints } from '../../access/invitations/endpoints.ts'
import { projectScope } from '../people.ts'

export const { list, create, update, destroy } = invitationEndpoints(projectScope)
