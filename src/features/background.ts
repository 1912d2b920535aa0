/** All background work: jobs by name and reactions to events, one line per family. */
import type { App, Farewell } from '../context.ts'
import type { Job } from '../jobs/queue.ts'
import type { Subscription } from '../jobs/worker.ts'
import { tellDenied, tellManagers } from './access/access-requests/on.ts'
import { purgeInvitations } from './access/invitations/jobs.ts'
import { mailInvitation, welcomeCreated, welcomeUpdated } from './access/invitations/on.ts'
import { purgeExpired } from './access/members/jobs.ts'
import { tellAdded, tellChanged } from './access/members/on.ts'
import { syncAllMembers, syncMembers } from './groups/directory-links/jobs.ts'
import { joinLinkedGroups } from './groups/directory-links/on.ts'
import { leaveGroups } from './groups/groups/farewell.ts'
import { removeGroups } from './groups/groups/removal.ts'
import { answerPasswordWish, purge } from './identity/sessions/jobs.ts'
import { checkDirectoryPeople } from './identity/users/jobs.ts'
import { welcome } from './identity/users/on.ts'
import { discardBlob } from './instance/blobs/jobs.ts'
import { sweep } from './instance/spool/jobs.ts'
import { copyRepositoryOf } from './projects/forks/jobs.ts'
import { tidyPoolLater, tidyRepository } from './projects/housekeeping/jobs.ts'
import { importRepository } from './projects/imports/jobs.ts'
import { leaveProjects } from './projects/projects/farewell.ts'
import { removeLater, removeRepositoryLater } from './projects/projects/removal.ts'
import { purgeExpiredShares } from './projects/sharing/jobs.ts'
import { deleteMergedLater } from './repository/branches/jobs.ts'
import { leaveCommits } from './repository/commits/authors.ts'
import { inspectLater } from './repository/gate/jobs.ts'
import { finishChanges } from './repository/gate/recovery.ts'
import { releaseKeys } from './repository/deploy-keys/on.ts'
import { dropUnlinkedObjects } from './repository/lfs/jobs.ts'
import { linkObjectsOfSource } from './repository/lfs/on.ts'
import { protectFilled } from './repository/protected-branches/on.ts'
import { dropOldArchives } from './repository/repositories/jobs.ts'
import { reactions as signatureReactions } from './repository/signatures/on.ts'

// oxlint-disable-next-line no-explicit-any -- the queue holds jobs of every payload
export const jobs: Job<App, any>[] = [
  syncMembers,
  syncAllMembers,
  checkDirectoryPeople,
  removeGroups,
  removeLater,
  removeRepositoryLater,
  copyRepositoryOf,
  importRepository,
  tidyRepository,
  tidyPoolLater,
  inspectLater,
  finishChanges,
  deleteMergedLater,
  purgeExpiredShares,
  answerPasswordWish,
  purge,
  purgeExpired,
  purgeInvitations,
  dropUnlinkedObjects,
  dropOldArchives,
  discardBlob,
  sweep,
]

export const subscriptions: Subscription<App>[] = [
  welcome,
  joinLinkedGroups,
  tellAdded,
  tellChanged,
  tellManagers,
  tellDenied,
  mailInvitation,
  welcomeCreated,
  welcomeUpdated,
  linkObjectsOfSource,
  protectFilled,
  releaseKeys,
  ...signatureReactions,
]

/** In this order: a group may refuse to let its last owner go. */
export const farewells: Farewell[] = [leaveGroups, leaveProjects, leaveCommits]
