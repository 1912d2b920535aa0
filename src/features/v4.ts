/** The whole API: one line per family. A family's `routes.ts` holds its endpoints. */
import type { Endpoint } from '../api/endpoint.ts'
import * as groups from './groups/groups/routes.ts'
import * as directoryLinks from './groups/directory-links/routes.ts'
import * as groupAccessRequests from './groups/access-requests/routes.ts'
import * as groupInvitations from './groups/invitations/routes.ts'
import * as groupMembers from './groups/members/routes.ts'
import * as activities from './identity/activities/routes.ts'
import * as emails from './identity/emails/routes.ts'
import * as gpgKeys from './identity/gpg-keys/routes.ts'
import * as impersonationTokens from './identity/impersonation-tokens/routes.ts'
import * as keys from './identity/keys/routes.ts'
import * as namespaces from './identity/namespaces/routes.ts'
import * as applications from './identity/oauth/routes.ts'
import * as session from './identity/sessions/routes.ts'
import * as tokens from './identity/tokens/routes.ts'
import * as users from './identity/users/routes.ts'
import * as backgroundJobs from './instance/background-jobs/routes.ts'
import * as broadcastMessages from './instance/broadcast-messages/routes.ts'
import * as features from './instance/features/routes.ts'
import * as settings from './instance/settings/routes.ts'
import * as templates from './instance/templates/routes.ts'
import * as version from './instance/version/routes.ts'
import * as projectHooks from './integrations/hooks/routes.ts'
import * as projectAccess from './projects/access/routes.ts'
import * as projectAccessRequests from './projects/access-requests/routes.ts'
import * as forks from './projects/forks/routes.ts'
import * as housekeeping from './projects/housekeeping/routes.ts'
import * as imports from './projects/imports/routes.ts'
import * as projectInvitations from './projects/invitations/routes.ts'
import * as projectMembers from './projects/members/routes.ts'
import * as projects from './projects/projects/routes.ts'
import * as pushRules from './projects/push-rules/routes.ts'
import * as sharing from './projects/sharing/routes.ts'
import * as stars from './projects/stars/routes.ts'
import * as transfer from './projects/transfer/routes.ts'
import * as uploads from './projects/uploads/routes.ts'
import * as branches from './repository/branches/routes.ts'
import * as commitComments from './repository/commit-comments/routes.ts'
import * as commits from './repository/commits/routes.ts'
import * as deployKeys from './repository/deploy-keys/routes.ts'
import * as deployTokens from './repository/deploy-tokens/routes.ts'
import * as files from './repository/files/routes.ts'
import * as protectedBranches from './repository/protected-branches/routes.ts'
import * as protectedTags from './repository/protected-tags/routes.ts'
import * as releaseLinks from './repository/releases/link-routes.ts'
import * as releases from './repository/releases/routes.ts'
import * as repositories from './repository/repositories/routes.ts'
import * as signatures from './repository/signatures/routes.ts'
import * as commitStatuses from './repository/statuses/routes.ts'
import * as tags from './repository/tags/routes.ts'
import * as projectTemplates from './repository/templates/routes.ts'
import * as wikis from './repository/wikis/routes.ts'

/** Families in the order of the documentation; the key is the chapter's name. */
export const families = {
  groups,
  directoryLinks,
  projects,
  forks,
  stars,
  sharing,
  transfer,
  imports,
  housekeeping,
  uploads,
  projectHooks,
  pushRules,
  repositories,
  branches,
  tags,
  releases,
  releaseLinks,
  commits,
  signatures,
  commitComments,
  commitStatuses,
  files,
  protectedBranches,
  protectedTags,
  deployKeys,
  deployTokens,
  projectAccess,
  projectMembers,
  projectAccessRequests,
  projectInvitations,
  groupMembers,
  groupAccessRequests,
  groupInvitations,
  wikis,
  users,
  keys,
  gpgKeys,
  emails,
  impersonationTokens,
  tokens,
  session,
  applications,
  activities,
  namespaces,
  version,
  settings,
  features,
  broadcastMessages,
  templates,
  projectTemplates,
  backgroundJobs,
} satisfies Record<string, Record<string, Endpoint>>

export const v4: readonly Endpoint[] = Object.values(families).flatMap((family) => Object.values(family))
