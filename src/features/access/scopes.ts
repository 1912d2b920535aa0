/**
 * Users belong to groups and to projects in the same way: as members, by access request, by invitation. The families
 * here declare their endpoints for a source; `projects/scope.ts` and `groups/scope.ts` declare the two sources.
 */
import { child, policy } from '../../api/endpoint.ts'
import type { managedPolicy, ManagedScope, ResourceScope, Scoped } from '../../api/resource-scopes.ts'
import { id } from '../../api/wire.ts'
import type { App, User } from '../../context.ts'
import { forbidden } from '../../errors.ts'
import type { Db } from '../../store/database.ts'
import type { SourceColumns } from './members/model.ts'

/** A group or a project, with the rights of one viewer; `managed`: the viewer can manage the members. */
export interface Source extends ManagedScope {
  /** The ids that member rows refer to. */
  readonly at: SourceColumns
  readonly viewer: User | null
  /** The viewer's own level, from any membership or share. */
  readonly level: number
  /** Whether users may request access. */
  readonly requestable: boolean
}

export type SourceSubject = Scoped<Source>
export type SourceScope = ResourceScope<Source, typeof managedPolicy, 'group' | 'project', `/${string}`>

interface PersonSubject extends SourceSubject {
  readonly record: { readonly user_id: number }
}

const personPolicy = policy<PersonSubject>()({
  read: () => true,
  /** An ability of the record itself: the record is found first, so a missing one answers 404 instead of 403. */
  manage: (s) => s.managed,
  /** Users may remove their own record. */
  giveUp: (s) => s.managed || s.record.user_id === s.viewer?.id,
})

/** The record of one user there, by user id. With `secret`, only that user and managers learn whether it exists. */
export const ofPerson = <R extends { user_id: number }>(
  { resource }: SourceScope,
  findOf: (db: Db, at: SourceColumns, user: number) => Promise<R | null | undefined>,
  { secret = false }: { secret?: boolean } = {},
) =>
  child(resource, {
    key: 'record',
    params: { user_id: id },
    policy: personPolicy,
    async find(app, { at, managed, viewer }, { user_id }) {
      if (secret && !managed && user_id !== viewer?.id) throw forbidden()
      return findOf(app.db, at, user_id)
    },
  })

/** What is left of a record that the viewer removed. Only users who can manage members learn whether it exists. */
export const ofRemoved = <R extends { user_id: number }>(
  { resource }: SourceScope,
  findOf: (app: App, at: SourceColumns, user: number, by: number) => Promise<R | null>,
) =>
  child(resource, {
    name: 'Member',
    key: 'record',
    params: { user_id: id },
    policy: personPolicy,
    async find(app, { at, managed, viewer }, { user_id }) {
      if (!managed || !viewer) throw forbidden()
      return findOf(app, at, user_id, viewer.id)
    },
  })

export const sourceOf = ({ group_id, project_id }: SourceColumns): SourceColumns => ({ group_id, project_id })
