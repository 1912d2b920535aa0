import { on } from '../../../context.ts'
import { directoryIdentities } from '../../identity/users/identities.ts'
import { findUser } from '../../identity/users/queries.ts'
import { requestSyncs } from './jobs.ts'

/** Nobody has an account before the first sign-in; the groups that wait for them need not wait for the hour. */
export const joinLinkedGroups = on('user.created', 'join linked groups', async (app, { id }) => {
  const user = await findUser(app.db, id)
  const identities = user ? await directoryIdentities(app, user) : []
  await requestSyncs(
    app,
    identities.map(({ provider }) => provider),
  )
})
