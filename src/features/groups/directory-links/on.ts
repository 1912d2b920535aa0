import { on } from '../../../context.ts'
import { directoryIdentities } from '../../identity/users/identities.ts'
import { findUser } from '../../identity/users/queries.ts'
import { requestSyncs } from './jobs.ts'

/**
 * An account is created at the first sign-in. This adds the user to linked groups at once instead of at the next hourly
 * run.
 */
export const joinLinkedGroups = on('user.created', 'join linked groups', async (app, { id }) => {
  const user = await findUser(app.db, id)
  const identities = user ? await directoryIdentities(app, user) : []
  await requestSyncs(
    app,
    identities.map(({ provider }) => provider),
  )
})
