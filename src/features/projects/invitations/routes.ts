import { invitationEndpoints } from '../../access/invitations/endpoints.ts'
import { projectDoor } from '../people.ts'

export const { list, create, update, destroy } = invitationEndpoints(projectDoor)
