import { on } from '../../../context.ts'
import { transact } from '../../../store/transact.ts'
import { mailLater, mayMail } from '../../identity/mailing.ts'
import { findUser } from '../../identity/users/queries.ts'
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
      await mailLater(app, {
        to: manager.email,
        subject: `Access request for ${source.name}`,
        text: `Hello ${manager.name},

${asking.name} (${asking.username}) requested access to the ${source.kind} ${source.name}.

${source.url}`,
      })
    }
  })
})

export const mailDenial = on('access_request.denied', 'tell', async (app, event) => {
  const user = await findUser(app.db, event.user_id)
  const source = await nameMailedSource(app, event)
  if (!source || !isReachable(user)) return
  await app.mail.send({
    to: user.email,
    subject: `Access request for ${source.name} denied`,
    text: `Hello ${user.name},

your access request for the ${source.kind} ${source.name} was denied.`,
  })
})
