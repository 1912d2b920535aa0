import { on, type App, type User } from '../../../context.ts'
import type { Events } from '../../../store/database.ts'
import { mayMail } from '../../identity/mailing.ts'
import { findUser } from '../../identity/users/queries.ts'
import { memberAdded, roleChanged } from '../mail-texts.ts'
import { levelName } from './levels.ts'
import { findMember, nameMailedSource } from './queries.ts'

/** Only active users with a confirmed address get mail. */
export const isReachable = (user: User | null): user is User =>
  user !== null && user.state === 'active' && user.confirmed_at !== null && !user.ghost

async function tell(app: App, event: Events['member.added'], text: typeof memberAdded) {
  if (event.by === event.user_id) return
  const member = await findMember(app.db, event, event.user_id)
  const user = await findUser(app.db, event.user_id)
  const source = await nameMailedSource(app, event)
  if (!member || !source || !isReachable(user)) return
  if (!(await mayMail(app, { kind: 'membership', to: user.email }))) return
  const { access_level, expires_at: expiresAt } = member
  await app.mail.send({
    to: user.email,
    ...text({ name: user.name, source, role: levelName(access_level), expiresAt }),
  })
}

export const mailAdded = on('member.added', 'tell', (app, event) => tell(app, event, memberAdded))

export const mailChanged = on('member.changed', 'tell', (app, event) => tell(app, event, roleChanged))
