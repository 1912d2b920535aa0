import { on, type App, type User } from '../../../context.ts'
import type { Events } from '../../../store/database.ts'
import { mayMail } from '../../identity/mailing.ts'
import { findUser } from '../../identity/users/queries.ts'
import { levelName } from './levels.ts'
import { findMember, nameMailedSource } from './queries.ts'

/** Only active users with a confirmed address get mail. */
export const isReachable = (user: User | null): user is User =>
  user !== null && user.state === 'active' && user.confirmed_at !== null && !user.ghost

async function tell(app: App, event: Events['member.added'], { subject, change }: { subject: string; change: string }) {
  if (event.by === event.user_id) return
  const member = await findMember(app.db, event, event.user_id)
  const user = await findUser(app.db, event.user_id)
  const source = await nameMailedSource(app, event)
  if (!member || !source || !isReachable(user)) return
  if (!(await mayMail(app, { kind: 'membership', to: user.email }))) return
  const until = member.expires_at ? ` The membership expires on ${member.expires_at}.` : ''
  await app.mail.send({
    to: user.email,
    subject: `${subject} ${source.name}`,
    text: `Hello ${user.name},

${change} the ${source.kind} ${source.name} is ${levelName(member.access_level)}.${until}

${source.url}`,
  })
}

export const mailAdded = on('member.added', 'tell', (app, event) =>
  tell(app, event, { subject: 'You were added to', change: 'you are now a member. Your role in' }),
)

export const mailChanged = on('member.changed', 'tell', (app, event) =>
  tell(app, event, { subject: 'Your role changed in', change: 'your role changed. Your new role in' }),
)
