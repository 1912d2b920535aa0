import { invitationEndpoints } from '../../access/invitations/endpoints.ts'
import { projectMount } from '../people.ts'

export const { list, create, update, destroy } = invitationEndpoints(projectMount)
