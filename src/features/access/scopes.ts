/**
 * People belong to groups and to projects in the same way: as members, by asking to be let in, by invitation. A family
 * declares each of its endpoints once, for a mount; `/groups/:id/…` and `/projects/:id/…` are the two.
 */
import { z } from 'zod'
import { child, policy, resource, type Policy, type Resource } from '../../api/endpoint.ts'
import { id, text } from '../../api/wire.ts'
import type { App, User } from '../../context.ts'
import { forbidden } from '../../errors.ts'
import type { Db } from '../../store/database.ts'
import type { SourceColumns } from './members/model.ts'

/** A group or a project as someone in particular meets it. */
export interface SourceSubject {
  /** What rows of people name it by. */
  readonly at: SourceColumns
  readonly viewer: User | null
  /** The viewer's own, whatever gives it to them. */
  readonly level: number
  /** Whether the viewer decides who belongs to it. */
  readonly managed: boolean
  /** Whether people may ask to be let in. */
  readonly requestable: boolean
  /** Kept to be read: nobody is let in any more. */
  readonly isReadOnly: boolean
}

const sourcePolicy = policy<SourceSubject>()({
  /** What may not be read is not found in the first place. */
  read: () => true,
  manage: (s) => s.managed,
})

/** Something of one person at a source. */
export interface OwnSubject extends SourceSubject {
  readonly record: { readonly user_id: number }
}

const ownPolicy = policy<OwnSubject>()({
  read: () => true,
  manage: (s) => s.managed,
  /** Whoever it belongs to may give it up. */
  giveUp: (s) => s.managed || s.record.user_id === s.viewer?.id,
})

interface ScopePlan<S, P extends Policy<S>> {
  kind: 'group' | 'project'
  path: '/groups/:id' | '/projects/:id'
  on: Resource<S, P>
  /** The ability that decides who belongs to it. */
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
  /** The group or project itself: what lists and creation act on. */
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
    /** What one person has there, by the person's id; whether they have it is told to everybody, or only to who may know. */
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
