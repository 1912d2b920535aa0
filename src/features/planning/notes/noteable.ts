/**
 * What people talk about: an issue, a merge request, a commit, a snippet. Notes, discussions and reactions declare their endpoints once, for a talk;
 * a family that is to be talked about declares one.
 */
import type { z } from 'zod'
import { child, policy, type AnswerLimiter, type Policy, type Resource } from '../../../api/endpoint.ts'
import type { App, User } from '../../../context.ts'
import type { FindEmoji } from '../../../lib/emoji.ts'
import { Guest, Reporter } from '../../../lib/levels.ts'
import type { Actionable, QuickAction } from '../../../lib/quick-actions.ts'
import type { ProjectSubject } from '../../projects/projects/policy.ts'
import type { Note } from './model.ts'
import type { PositionInput, StoredPosition } from './positions.ts'
import type { SuggestionRecord } from './suggestion-entity.ts'
import type { Noteable } from './system.ts'

/** What is talked about, as someone in particular meets it. */
export interface NoteableItem {
  /** What its notes name it by. */
  readonly noteable: Noteable
  readonly type: 'Issue' | 'MergeRequest' | 'Commit' | 'Snippet'
  readonly id: number | null
  readonly iid: number | null
  /** Whether the viewer may take part, unless it is locked. */
  readonly isOpen: boolean
  /** For whoever is no member. */
  readonly isLocked: boolean
  /** Where its threads can be resolved: whether the viewer may. */
  readonly threads?: { readonly mayResolve: boolean }
  /** Something was said of it, in the transaction of the note. */
  touch?(app: App): Promise<void>
  /** What commands are looked for, where not all are known. */
  readonly actionable?: Actionable
  /** Carries out what a note orders, in its transaction. Absent: what looks like an order is text. */
  obey?(app: App, actor: User, commands: readonly QuickAction[], emoji: FindEmoji): Promise<Obeyed>
  /** Looks at what a text on a line proposes; what it returns keeps that, in the transaction of the note. */
  heed?(app: App, text: string, placed: StoredPosition | null): Promise<Settle | undefined>
  /** What was kept of it, by the ids of notes. */
  suggestions?(app: App, notes: readonly Note[]): Promise<ReadonlyMap<number, SuggestionRecord[]>>
  /** Of the commits it is made of, the one that is named; refuses others. Without commits none is looked for. */
  commitNamed?(app: App, sha: string): Promise<string>
  /** Where in its diff, or in that of a commit, a note stands; null: nowhere. Without a diff there are no places. */
  place?(app: App, position: PositionInput, commit?: string | null): Promise<StoredPosition | null>
}

export type Settle = (app: App, note: Note) => Promise<void>

/** What came of the commands of a text. */
export interface Obeyed {
  /** As the API tells them. */
  readonly changes: Record<string, unknown>
  /** In words. */
  readonly summary: readonly string[]
  /** Does what is left to do once the transaction has ended, as git takes its time, and tells what came of all. */
  readonly after?: (app: App) => Promise<Obeyed>
}

export interface NoteableSubject extends ProjectSubject {
  readonly topic: NoteableItem
}

export type NoteablePolicy = Record<'read' | 'talk' | 'resolve', (subject: NoteableSubject) => boolean>

const mayComment = ({ topic, level }: NoteableSubject) => topic.isOpen && (!topic.isLocked || level >= Guest)

export const noteablePolicy: NoteablePolicy = policy<NoteableSubject>()({
  /** What may not be read is not found in the first place. */
  read: () => true,
  talk: mayComment,
  resolve: (s) => mayComment(s) && s.topic.threads?.mayResolve === true,
})

export const seesInternal = ({ level }: Pick<ProjectSubject, 'level'>): boolean => level >= Reporter

export type NoteableResource = Resource<NoteableSubject, NoteablePolicy>

export interface NoteableKind {
  /** Of its topic. */
  readonly path: `/${string}`
  /** As it is called in summaries. */
  readonly noun: string
  /** The topic, for endpoints that miss it by this name: one that is hidden and one that is absent are told alike. */
  named(name?: string): NoteableResource
  /** Whether visitors without an account read it. */
  readonly guest: boolean
  /** Of endpoints that may ask git. */
  readonly writing: { readonly limiter?: AnswerLimiter }
}

interface NoteablePlan<S extends ProjectSubject, P extends Policy<S>, Params extends z.ZodRawShape> {
  path: `/${string}`
  noun: string
  guest?: boolean
  /** Where what is said of it may have to be found in a diff. */
  limiter?: AnswerLimiter
  /** What it lies in. */
  on: Resource<S, P>
  params: Params
  find(app: App, parent: S, params: z.infer<z.ZodObject<Params>>): Promise<NoteableItem | null>
}

export const noteableKind = <S extends ProjectSubject, P extends Policy<S>, Params extends z.ZodRawShape>({
  path,
  noun,
  guest = true,
  limiter: limiter,
  on,
  params,
  find,
}: NoteablePlan<S, P, Params>): NoteableKind => ({
  path,
  noun,
  guest,
  writing: limiter ? { limiter: limiter } : {},
  // Endpoints ask nothing of the subject but what every talk has.
  named: (name) =>
    child(on, {
      ...(name !== undefined && { name }),
      key: 'topic',
      params,
      policy: noteablePolicy as never,
      find,
    }) as unknown as NoteableResource,
})
