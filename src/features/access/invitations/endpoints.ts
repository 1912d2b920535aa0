import { z } from 'zod'
import { child, endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { blankable, date, id, int, listOf, text } from '../../../api/wire.ts'
import type { App } from '../../../context.ts'
import { notFound } from '../../../errors.ts'
import { findUser } from '../../identity/users/queries.ts'
import { addMember, type Grant } from '../members/service.ts'
import { MOST_AT_ONCE, OutcomeEntity, oneByOne } from '../outcome.ts'
import type { SourceScope, SourceSubject } from '../scopes.ts'
import { InvitationEntity, presentInvitation } from './entity.ts'
import { findInvitation, listInvitations, loadInvitations, type Invitation } from './queries.ts'
import { invite, updateInvitation, withdrawInvitation } from './service.ts'

/** One invitation, found by its email address. */
const invitationAt = ({ resource }: SourceScope) =>
  child(resource, {
    key: 'invitation',
    params: { email: text },
    find: (app, { at }, { email }) => findInvitation(app.db, at, email),
  })

/** A longer address is rejected and not repeated in the answer. */
const LONGEST_ADDRESS = 254

const newInvitations = z
  .object({
    email: listOf(z.string().max(LONGEST_ADDRESS)).nullish(),
    user_id: listOf(id).nullish(),
    access_level: int,
    expires_at: blankable(date),
  })
  .refine(({ email, user_id }) => (email?.length ?? 0) + (user_id?.length ?? 0) > 0, {
    message: 'email, user_id are missing, at least one parameter must be provided',
  })
  .refine(({ email, user_id }) => (email?.length ?? 0) + (user_id?.length ?? 0) <= MOST_AT_ONCE, {
    message: `email, user_id are too many (maximum is ${MOST_AT_ONCE})`,
  })

const changes = z
  .object({ access_level: int.optional(), expires_at: blankable(date) })
  .refine(({ access_level, expires_at }) => access_level !== undefined || expires_at !== undefined, {
    message: 'access_level, expires_at are missing, at least one parameter must be provided',
  })

async function present(app: App, invitations: readonly Invitation[]) {
  return (await loadInvitations(app, invitations)).map(presentInvitation)
}

export function invitationEndpoints(scope: SourceScope) {
  const { kind, resource } = scope
  const path = `${scope.path}/invitations` as const
  const invitation = invitationAt(scope)

  return {
    list: endpoint({
      method: 'GET',
      path,
      summary: `List the pending invitations to a ${kind}`,
      on: resource,
      allow: 'manage',
      secret: true,
      input: z.object({ query: text.nullish() }),
      output: pageOf(InvitationEntity),
      async handle({ app, subject, input, page }) {
        const { items, total } = await listInvitations(app.db, subject.at, input, page)
        return { total, items: await present(app, items) }
      },
    }),

    create: endpoint({
      method: 'POST',
      path,
      summary: `Invite people to a ${kind}, by address or by id`,
      on: resource,
      allow: 'manage',
      input: newInvitations,
      output: OutcomeEntity,
      handle({ app, viewer, subject, input }) {
        const { email, user_id, ...grant } = input
        return oneByOne([...(email ?? []), ...(user_id ?? [])], async (one) =>
          typeof one === 'string'
            ? invite(app, subject.at, one, grant, viewer)
            : addKnown(app, subject, one, grant, viewer.id),
        )
      },
    }),

    update: endpoint({
      method: 'PUT',
      path: `${path}/:email`,
      summary: `Update a pending invitation to a ${kind}`,
      on: invitation,
      allow: 'manage',
      input: changes,
      output: InvitationEntity,
      async handle({ app, subject, input }) {
        const [presented] = await present(app, [await updateInvitation(app, subject.invitation, input)])
        return presented!
      },
    }),

    destroy: endpoint({
      method: 'DELETE',
      path: `${path}/:email`,
      summary: `Withdraw an invitation to a ${kind}`,
      on: invitation,
      allow: 'manage',
      changedAt: ({ invitation }) => invitation.updated_at,
      output: null,
      handle: ({ app, subject }) => withdrawInvitation(app, subject.invitation),
    }),
  }
}

async function addKnown(app: App, { at }: SourceSubject, user_id: number, grant: Grant, by: number) {
  const user = await findUser(app.db, user_id)
  if (!user || user.ghost) throw notFound('User')
  return addMember(app, at, user.id, grant, by)
}
