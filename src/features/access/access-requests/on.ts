import { on } from '../../../context.ts'
import { transact } from '../../../store/transact.ts'
import { mailLater, mayMail } from '../../identity/mailing.ts'
import { findUser } from '../../identity/users/queries.ts'
import { accessDenied, accessRequested } from '../mail-texts.ts'
import { isReachable } from '../members/on.ts'
import { nameMailedSource } from '../members/queries.ts'
import { findRequest, managersOf } from './queries.ts'

export const mailManagers = on('access_request.made', 'tell', async (app, event) => {
  const asking = (await findRequest(app.db, event, event.user_id)) && (await findUser(app.db, event.user_id))
  const source = await nameMailedSource(app, event)
  if (!asking || !source) return
  const managers = await managersOf(app.db, event)
  await transact(app, async (app) => {
    for (const manager of managers) {
      if (!(await mayMail(app, { kind: 'access request', by: asking.id, to: manager.email }))) continue
      await mailLater(app, { to: manager.email, ...accessRequested(manager, asking, source) })
    }
  })
})

export const mailDenial = on('access_request.denied', 'tell', async (app, event) => {
  const user = await findUser(app.db, event.user_id)
  const source = await nameMailedSource(app, event)
  if (!source || !isReachable(user)) return
  await app.mail.send({ to: user.email, ...accessDenied(user.name, source) })
})
