/** Subjects and texts of the mails about memberships. */
import type { Mail } from '../../mail/compose.ts'

type MailText = Pick<Mail, 'subject' | 'text'>

interface Source {
  readonly kind: string
  readonly name: string
}

interface Membership {
  readonly name: string
  readonly source: Source & { readonly url: string }
  readonly role: string
  readonly expiresAt: string | null
}

const until = (expiresAt: string | null) => (expiresAt ? ` The membership expires on ${expiresAt}.` : '')

export const memberAdded = ({ name, source, role, expiresAt }: Membership): MailText => ({
  subject: `You were added to ${source.name}`,
  text: `Hello ${name},

you are now a member. Your role in the ${source.kind} ${source.name} is ${role}.${until(expiresAt)}

${source.url}`,
})

export const roleChanged = ({ name, source, role, expiresAt }: Membership): MailText => ({
  subject: `Your role changed in ${source.name}`,
  text: `Hello ${name},

your role changed. Your new role in the ${source.kind} ${source.name} is ${role}.${until(expiresAt)}

${source.url}`,
})

export const accessRequested = (
  manager: { readonly name: string },
  asking: { readonly name: string; readonly username: string },
  source: Membership['source'],
): MailText => ({
  subject: `Access request for ${source.name}`,
  text: `Hello ${manager.name},

${asking.name} (${asking.username}) requested access to the ${source.kind} ${source.name}.

${source.url}`,
})

export const accessDenied = (name: string, source: Source): MailText => ({
  subject: `Access request for ${source.name} denied`,
  text: `Hello ${name},

your access request for the ${source.kind} ${source.name} was denied.`,
})

export const invitation = (creator: string | undefined, source: Source, role: string, link: string): MailText => ({
  subject: `Invitation to ${source.name}`,
  text: `Hello,

${creator ?? 'Someone'} invited you to join the ${source.kind} ${source.name} as ${role}. To accept, open:

${link}

The link is valid for 90 days and works once. If you did not expect this email, ignore it.`,
})
