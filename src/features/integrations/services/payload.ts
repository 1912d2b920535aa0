/** The input of a service: the webhook message, its project, and the settings of the service. */
import type { ServiceEvent, Settings } from './model.ts'

interface PayloadPerson {
  readonly name?: string | null
  readonly username?: string | null
  readonly avatar_url?: string | null
}

export interface PayloadCommit {
  readonly id: string
  readonly message?: string | null
  readonly title?: string | null
  readonly timestamp?: string | null
  readonly url?: string | null
  readonly author?: { readonly name?: string | null; readonly email?: string | null } | null
}

interface Attributes {
  readonly id?: number
  readonly iid?: number
  readonly title?: string | null
  readonly description?: string | null
  readonly url?: string | null
  readonly state?: string | null
  readonly action?: string | null
  readonly note?: string | null
  readonly noteable_type?: string | null
  readonly confidential?: boolean
  readonly internal?: boolean
  readonly type?: string | null
  readonly content?: string | null
  readonly message?: string | null
  readonly source_branch?: string | null
  readonly target_branch?: string | null
  readonly source_project_id?: number | null
  readonly target_project_id?: number | null
  readonly last_commit?: PayloadCommit | null
  readonly ref?: string | null
  readonly tag?: boolean
  readonly sha?: string | null
  readonly status?: string | null
  readonly detailed_status?: string | null
  readonly duration?: number | null
}

/** The fields of all kinds of messages that services read. Any field may be missing. */
export interface Payload {
  readonly object_kind?: string
  readonly event_type?: string
  readonly ref?: string | null
  readonly before?: string | null
  readonly after?: string | null
  readonly checkout_sha?: string | null
  readonly ref_protected?: boolean
  readonly user_id?: number | null
  readonly user_name?: string | null
  readonly user_username?: string | null
  readonly user_avatar?: string | null
  readonly user?: PayloadPerson | null
  readonly object_attributes?: Attributes
  readonly commits?: readonly PayloadCommit[]
  readonly total_commits_count?: number
  readonly commit?: PayloadCommit | null
  readonly issue?: Attributes | null
  readonly merge_request?: Attributes | null
  readonly snippet?: Attributes | null
  readonly builds?: readonly { readonly name?: string; readonly stage?: string; readonly status?: string }[]
  readonly status?: string | null
  readonly environment?: string | null
  readonly deployable_url?: string | null
  readonly short_sha?: string | null
  readonly commit_url?: string | null
  readonly commit_title?: string | null
  readonly tag?: boolean
}

export interface PayloadProject {
  readonly id: number
  readonly name: string
  readonly name_with_namespace: string
  readonly path: string
  readonly namespace: string
  readonly path_with_namespace: string
  readonly web_url: string
  readonly default_branch: string | null
}

export interface ServicePayload {
  readonly event: ServiceEvent
  readonly body: Payload
  readonly settings: Settings
  readonly project: PayloadProject
  readonly instance: { readonly url: string; readonly version: string }
  /** Whether the service may also write a comment. */
  readonly comments: boolean
}

/** A setting as text; empty if it is not set. */
export const textOf = ({ settings }: Pick<ServicePayload, 'settings'>, name: string): string => {
  const value = settings[name]
  return value === null || value === undefined ? '' : String(value)
}

/** The display name of the user who caused the event. */
export function actorOf({ user, user_name, user_username }: Payload): string {
  const name = user?.name ?? user_name ?? ''
  const username = user?.username ?? user_username ?? ''
  if (!username || name === username) return name || username || 'Somebody'
  return name ? `${name} (${username})` : username
}

export const avatarOf = ({ user, user_avatar }: Payload): string | null => user?.avatar_url ?? user_avatar ?? null

const NOWHERE = /^0+$/
export const isCreation = ({ before }: Payload): boolean => NOWHERE.test(before ?? '0')
export const isDeletion = ({ after }: Payload): boolean => NOWHERE.test(after ?? '0')

/** Strips `refs/heads/` or `refs/tags/`. */
export const nameOfRef = (ref: string | null | undefined): string => (ref ?? '').replace(/^refs\/(heads|tags)\//, '')

export const titleOfCommit = ({ title, message }: PayloadCommit): string =>
  (title ?? message ?? '').split('\n', 1)[0]!.trim()

export const SHORT_SHA = 8
export const shortSha = (sha: string | null | undefined): string => (sha ?? '').slice(0, SHORT_SHA)

/** Cuts a text between characters, never inside a surrogate pair, and marks the cut. */
export function cut(text: string, most: number): string {
  if (text.length <= most) return text
  return `${text.slice(0, Math.max(most - 1, 0)).replace(/[\uD800-\uDBFF]$/, '')}…`
}
