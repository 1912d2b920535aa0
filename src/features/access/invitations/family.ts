import { family } from '../../family.ts'
import { purgeInvitations } from './jobs.ts'
import { mailInvitation, welcomeApproved, welcomeCreated, welcomeUpdated } from './on.ts'
import { replaceInvitationTokens } from './secrets.ts'
import * as web from './web.ts'

export const invitations = family({
  jobs: [purgeInvitations],
  reactions: [mailInvitation, welcomeApproved, welcomeCreated, welcomeUpdated],
  secretReset: replaceInvitationTokens,
  web: [web.routes],
})
