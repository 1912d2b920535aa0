/**
 * Noteables: an issue, a merge request, a commit, a snippet. Notes, discussions and reactions declare their endpoints
 * once for all kinds. A family with notes declares its kind of noteable.
 */
import type { z } from 'zod'
import { child, policy, type AnswerLimiter, type Policy, type Resource } from '../../../api/endpoint.ts'
import type { App, TransactionApp, User } from '../../../context.ts'
import type { FindEmoji } from '../../../lib/text/emoji.ts'
import { Guest, Reporter } from '../../../lib/levels.ts'
import type { Actionable, QuickAction } from '../../../lib/text/quick-actions.ts'
import type { ProjectSubject } from '../../projects/projects/policy.ts'
import type { ItemType } from '../items/kind.ts'
import type { Note } from './model.ts'
import type { PositionInput, StoredPosition } from './positions.ts'
import type { SuggestionRecord } from './suggestion-entity.ts'
import type { Noteable } from './system.ts'

/** A noteable, for one viewer. */
export interface NoteableItem {
  /** The columns that refer to it in notes. */
  readonly noteable: Noteable
  readonly type: ItemType | 'Commit' | 'Snippet'
  readonly id: number | null
  readonly iid: number | null
  /** Whether the viewer may comment, unless it is locked. */
  readonly isOpen: boolean
  /** Locked for non-members. */
  readonly isLocked: boolean
  /** Present where threads can be resolved: whether the viewer may resolve them. */
  readonly threads?: { readonly mayResolve: boolean }
  /** Called for each new note, in its transaction. */
  touch?(app: TransactionApp): Promise<void>
  /** The quick actions to look for, where not all are known. */
  readonly actionable?: Actionable
  /** Runs the quick actions of a note, in its transaction. Absent: they stay text. */
  obey?(app: TransactionApp, actor: User, commands: readonly QuickAction[], emoji: FindEmoji): Promise<Obeyed>
  /** Parses the suggestions in a text on a line. The returned function stores them, in the transaction of the note. */
  heed?(app: App, text: string, position: StoredPosition | null): Promise<Settle | undefined>
  /** The stored suggestions, by note id. */
  suggestions?(app: App, notes: readonly Note[]): Promise<ReadonlyMap<number, SuggestionRecord[]>>
  /**
   * The commit that the caller names; refuses commits that do not belong to the noteable. Absent: it has no commits.
   */
  commitNamed?(app: App, sha: string): Promise<string>
  /** The position in its diff, or in that of a commit. Null: no such line. Absent: it has no diff. */
  resolvePosition?(app: App, position: PositionInput, commit?: string | null): Promise<StoredPosition | null>
}

export type Settle = (app: TransactionApp, note: Note) => Promise<void>

/** The results of the quick actions of a text. */
export interface Obeyed {
  /** For the API record. */
  readonly changes: Record<string, unknown>
  /** Sentences for users. */
  readonly summary: readonly string[]
  /** Finishes after the transaction, because git is slow. Returns the results of all actions. */
  readonly after?: (app: App) => Promise<Obeyed>
}

export interface NoteableSubject extends ProjectSubject {
  readonly topic: NoteableItem
}

export type NoteablePolicy = Record<'read' | 'talk' | 'resolve', (subject: NoteableSubject) => boolean>

const mayComment = ({ topic, level }: NoteableSubject) => topic.isOpen && (!topic.isLocked || level >= Guest)

export const noteablePolicy: NoteablePolicy = policy<NoteableSubject>()({
  /** `find` already returns null if the viewer may not read it. */
  read: () => true,
  talk: mayComment,
  resolve: (s) => mayComment(s) && s.topic.threads?.mayResolve === true,
})

export const seesInternal = ({ level }: Pick<ProjectSubject, 'level'>): boolean => level >= Reporter

export type NoteableResource = Resource<NoteableSubject, NoteablePolicy>

export interface NoteableKind {
  /** The path of the noteable. */
  readonly path: `/${string}`
  /** The noun in summaries. */
  readonly noun: string
  /** The noteable, with this name in the 404 message. A hidden noteable and a missing one get the same answer. */
  named(name?: string): NoteableResource
  /** Who may read it, if the project is public. */
  readonly by: 'user' | 'visitor'
  /** The limiter of endpoints that may need git. */
  readonly writing: { readonly limiter?: AnswerLimiter }
}

interface NoteablePlan<S extends ProjectSubject, P extends Policy<S>, Params extends z.ZodRawShape> {
  path: `/${string}`
  noun: string
  by?: 'user' | 'visitor'
  /** Set where a note may need a position in a diff. */
  limiter?: AnswerLimiter
  /** The parent resource. */
  on: Resource<S, P>
  params: Params
  find(app: App, parent: S, params: z.infer<z.ZodObject<Params>>): Promise<NoteableItem | null>
}

export const noteableKind = <S extends ProjectSubject, P extends Policy<S>, Params extends z.ZodRawShape>({
  path,
  noun,
  by = 'visitor',
  limiter,
  on,
  params,
  find,
}: NoteablePlan<S, P, Params>): NoteableKind => ({
  path,
  noun,
  by,
  writing: limiter ? { limiter } : {},
  // Endpoints use only what every noteable subject has.
  named: (name) =>
    child(on, {
      ...(name !== undefined && { name }),
      key: 'topic',
      params,
      policy: noteablePolicy as never,
      find,
    }) as unknown as NoteableResource,
})
