import { on } from '../../../context.ts'
import { findUser } from '../users/queries.ts'
import { mailClaim } from './confirmation.ts'

export const askToConfirm = on('email.created', 'confirm', async (app, { id, user_id }) => {
  const claim = await app.db
    .selectFrom('emails')
    .selectAll()
    .where('id', '=', id)
    .where('confirmed_at', 'is', null)
    .executeTakeFirst()
  const user = claim && (await findUser(app.db, user_id))
  if (user?.state === 'active') await mailClaim(app, user, claim!)
})
