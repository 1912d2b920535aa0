/**
 * Users belong to groups and to projects in the same way: as members, by access request, by invitation. A family
 * declares each endpoint once, for a scope. There are two scopes: `/groups/:id/…` and `/projects/:id/…`.
 */
import { z } from 'zod'
import { child, policy, resource, type Policy, type Resource } from '../../api/endpoint.ts'
import { id, text } from '../../api/wire.ts'
import type { App, User } from '../../context.ts'
import { forbidden } from '../../errors.ts'
import type { Db } from '../../store/database.ts'
import type { SourceColumns } from './members/model.ts'

/** A group or a project, with the rights of one viewer. */
export interface SourceSubject {
  /** The ids that member rows refer to. */
  readonly at: SourceColumns
  readonly viewer: User | null
  /** The viewer's own level, from any membership or share. */
  readonly level: number
  /** Whether the viewer can manage the members. */
  readonly managed: boolean
  /** Whether users may request access. */
  readonly requestable: boolean
  /** Read-only: nobody can be added any more. */
  readonly isReadOnly: boolean
}

const sourcePolicy = policy<SourceSubject>()({
  /** A source that the viewer cannot read answers 404 before this policy is asked. */
  read: () => true,
  manage: (s) => s.managed,
})

/** A record of one user in a group or project, such as a membership. */
export interface OwnSubject extends SourceSubject {
  readonly record: { readonly user_id: number }
}

const ownPolicy = policy<OwnSubject>()({
  read: () => true,
  manage: (s) => s.managed,
  /** Users may remove their own record. */
  giveUp: (s) => s.managed || s.record.user_id === s.viewer?.id,
})

interface ScopePlan<S, P extends Policy<S>> {
  kind: 'group' | 'project'
  path: '/groups/:id' | '/projects/:id'
  on: Resource<S, P>
  /** The ability that allows managing the members. */
  manage: keyof P & string
  toSource(subject: S): Pick<SourceSubject, 'at' | 'level' | 'requestable'>
}

export function sourceScope<S, P extends Policy<S>>({ kind, path, on, manage, toSource }: ScopePlan<S, P>) {
  async function find(app: App, { id }: { id: string }, viewer: User | null): Promise<SourceSubject | null> {
    const subject = await on.find(app, { id } as never, viewer)
    if (!subject || !on.policy.read(subject)) return null
    const isReadOnly = on.isReadOnly?.(subject) ?? false
    return { ...toSource(subject), viewer, managed: on.policy[manage]!(subject), isReadOnly }
  }
  /** The group or project itself: lists and creation act on this resource. */
  const source = resource({
    name: on.name,
    params: z.object({ id: text }),
    policy: sourcePolicy,
    isReadOnly: (s) => s.isReadOnly,
    find,
  })
  return {
    kind,
    path,
    source,
    /** The record of one user there, by user id. With `secret`, only that user and managers learn whether it exists. */
    ofPerson: <R extends { user_id: number }>(
      findOf: (db: Db, at: SourceColumns, user: number) => Promise<R | null | undefined>,
      { secret = false }: { secret?: boolean } = {},
    ) =>
      child(source, {
        key: 'record',
        params: { user_id: id },
        policy: ownPolicy,
        async find(app, { at, managed, viewer }, { user_id }) {
          if (secret && !managed && user_id !== viewer?.id) throw forbidden()
          return findOf(app.db, at, user_id)
        },
      }),
  }
}

export type Scope = ReturnType<typeof sourceScope>

export const sourceOf = ({ group_id, project_id }: SourceColumns): SourceColumns => ({ group_id, project_id })
