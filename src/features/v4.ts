/** The whole API: one line per family. A family's `routes.ts` holds its endpoints. */
import type { Endpoint } from '../api/endpoint.ts'
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
import * as version from './instance/version/routes.ts'

/** Families in the order of the documentation; the key is the chapter's name. */
export const families = {
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
  backgroundJobs,
} satisfies Record<string, Record<string, Endpoint>>

export const v4: readonly Endpoint[] = Object.values(families).flatMap((family) => Object.values(family))
