import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { blankable, date, id, int, listOf, oneOf, text } from '../../../api/wire.ts'
import type { App } from '../../../context.ts'
import { notFound } from '../../../errors.ts'
import { findUser, findUserByUsername, surroundings } from '../../identity/users/queries.ts'
import { MOST_AT_ONCE, OutcomeEntity, oneByOne } from '../outcome.ts'
import { ofPerson, ofRemoved, type SourceScope } from '../scopes.ts'
import { MemberEntity, presentMember } from './entity.ts'
import { addressesFor } from './people.ts'
import { findMember, listMembers, loadMembers } from './queries.ts'
import { findRemoved } from './removals.ts'
import { addMember, removeMember, restoreMember, updateMember } from './service.ts'
import { findEffectiveMember, listEffectiveMembers, withOrigins } from './effective-members.ts'

const people = { query: text.nullish(), user_ids: listOf(id).nullish(), skip_users: listOf(id).nullish() }

const newMember = z
  .object({
    user_id: listOf(id).nullish(),
    username: listOf(z.string().max(255)).nullish(),
    access_level: int,
    expires_at: blankable(date),
  })
  .refine(({ user_id, username }) => !user_id || !username, { message: 'user_id, username are mutually exclusive' })
  .refine(({ user_id, username }) => isSome(user_id ?? username), { path: ['user_id'], when: () => true })

const isSome = (given: readonly unknown[] | null | undefined) =>
  Array.isArray(given) && given.length > 0 && given.length <= MOST_AT_ONCE

async function somebody(app: App, given: number | string): Promise<number> {
  const user = await (typeof given === 'number' ? findUser(app.db, given) : findUserByUsername(app.db, given))
  if (!user || user.ghost) throw notFound('User')
  return user.id
}

type Members = Parameters<typeof loadMembers>[1]

export async function presentMembers(app: App, members: Members) {
  const loaded = await loadMembers(app.db, members)
  const around = await surroundings(app)
  return loaded.map((one) => presentMember(one, around))
}

export async function presentOneMember(app: App, member: Members[number]) {
  const [presented] = await presentMembers(app, [member])
  return presented!
}

export function memberEndpoints(scope: SourceScope) {
  const { kind, resource } = scope
  const path = `${scope.path}/members` as const
  const member = ofPerson(scope, findMember)

  return {
    list: endpoint({
      method: 'GET',
      path,
      summary: `List the direct members of a ${kind}`,
      on: resource,
      allow: 'signed_in',
      input: z.object({ ...people, state: oneOf('active').nullish() }),
      refuses: ['show_seat_info'],
      output: pageOf(MemberEntity),
      async handle({ app, viewer, subject, input, page }) {
        const { items, total } = await listMembers(app.db, subject.at, input, page, addressesFor(viewer))
        return { total, items: await presentMembers(app, items) }
      },
    }),

    listAll: endpoint({
      method: 'GET',
      path: `${path}/all`,
      summary: `List all members of a ${kind}, inherited ones too`,
      on: resource,
      allow: 'signed_in',
      input: z.object({ ...people, state: oneOf('active').nullish() }),
      refuses: ['show_seat_info'],
      output: pageOf(MemberEntity),
      async handle({ app, viewer, subject, input, page }) {
        const { items, total } = await listEffectiveMembers(app.db, subject.at, input, page, addressesFor(viewer))
        return { total, items: await presentMembers(app, await withOrigins(app.db, subject.at, items)) }
      },
    }),

    getFromAll: endpoint({
      method: 'GET',
      path: `${path}/all/:user_id`,
      summary: `Get a member of a ${kind}, inherited or not`,
      on: ofPerson(scope, findEffectiveMember),
      allow: 'signed_in',
      output: MemberEntity,
      async handle({ app, subject }) {
        const [state] = await withOrigins(app.db, subject.at, [subject.record])
        return presentOneMember(app, state!)
      },
    }),

    get: endpoint({
      method: 'GET',
      path: `${path}/:user_id`,
      summary: `Get a direct member of a ${kind}`,
      on: member,
      allow: 'signed_in',
      output: MemberEntity,
      handle: ({ app, subject }) => presentOneMember(app, subject.record),
    }),

    create: endpoint({
      method: 'POST',
      path,
      summary: `Add a member to a ${kind}, or several`,
      on: resource,
      allow: 'manage',
      input: newMember,
      output: z.union([MemberEntity, OutcomeEntity]),
      async handle({ app, viewer, subject, input }) {
        const given: (number | string)[] = input.user_id ?? input.username!
        const add = async (one: number | string) =>
          addMember(app, subject.at, await somebody(app, one), input, viewer.id)
        return given.length === 1 ? presentOneMember(app, await add(given[0]!)) : oneByOne(given, add)
      },
    }),

    update: endpoint({
      method: 'PUT',
      path: `${path}/:user_id`,
      summary: `Update a member of a ${kind}`,
      on: member,
      allow: 'manage',
      input: z.object({ access_level: int, expires_at: blankable(date) }),
      output: MemberEntity,
      async handle({ app, viewer, subject, input }) {
        return presentOneMember(app, await updateMember(app, subject.record, input, viewer.id))
      },
    }),

    destroy: endpoint({
      method: 'DELETE',
      path: `${path}/:user_id`,
      summary: `Remove a member from a ${kind}, or leave it`,
      throttle: 'members_delete_limit',
      throttleScope: ({ at }) => JSON.stringify(at),
      on: member,
      allow: 'giveUp',
      changedAt: ({ record }) => record.updated_at,
      output: null,
      handle: ({ app, viewer, subject }) => removeMember(app, subject.record, viewer.id),
    }),

    restore: endpoint({
      method: 'POST',
      path: `${path}/:user_id/restore`,
      summary: `Undo the removal of a member from a ${kind}, within an hour and by the same user`,
      on: ofRemoved(scope, findRemoved),
      allow: 'manage',
      output: MemberEntity,
      async handle({ app, viewer, subject }) {
        return presentOneMember(app, await restoreMember(app, subject.record, viewer.id))
      },
    }),
  }
}
