import type { Generated } from 'kysely'
import type { Row } from '../../../store/database.ts'

declare module '../../../store/database.ts' {
  interface Tables {
    /** User activities. The API calls them events; the table `events` is the outbox. */
    activities: {
      id: Generated<number>
      project_id: number
      author_id: number
      kind: Kind
      /**
       * Visible to Reporters and above and to author and assignees of the issue. For a snippet: to members and users
       * who may see it.
       */
      reserved: Generated<boolean>
      issue_id: number | null
      merge_request_id: number | null
      milestone_id: number | null
      note_id: number | null
      /** JSON: the deleted target. */
      gone: string | null
      /** JSON of `PushData`. */
      push: string | null
      /** The event it was created from. Unique, so that a repeated event adds no second row. */
      source: string | null
      created_at: string
    }
    /**
     * The number of activities per day (`2025-03-14`), month (`2025-03`) and year, maintained by triggers: per author,
     * and per project under author 0. On PostgreSQL one kind may have several rows.
     */
    activity_spans: {
      author_id: number
      unit: 'day' | 'month' | 'year'
      start: string
      project_id: number
      kind: Kind
      reserved: boolean
      total: number
    }
  }
}

export type Activity = Row<'activities'>

/** What the viewer must be able to see in the project. */
export type Needs = 'project' | 'issues' | 'merge_requests' | 'work' | 'code' | 'snippets'

interface KindFacts {
  /** The filter values of the API. */
  readonly action: (typeof ACTIONS)[number]
  readonly target: (typeof TARGETS)[number] | null
  /** The action name in records. */
  readonly shown: string
  readonly needs: Needs
}

export const ACTIONS = [
  'created',
  'updated',
  'closed',
  'reopened',
  'pushed',
  'commented',
  'merged',
  'joined',
  'left',
  'destroyed',
  'expired',
  'approved',
] as const

export const TARGETS = [
  'issue',
  'milestone',
  'merge_request',
  'note',
  'project',
  'snippet',
  'user',
  'wiki',
  'design',
] as const

const kinds = <K extends string>(all: { [kind in K]: KindFacts }) => all

export const KINDS = kinds({
  'project.created': { action: 'created', target: 'project', shown: 'created', needs: 'project' },
  'project.imported': { action: 'created', target: 'project', shown: 'imported', needs: 'project' },
  'member.joined': { action: 'joined', target: 'user', shown: 'joined', needs: 'project' },
  'member.left': { action: 'left', target: 'user', shown: 'left', needs: 'project' },
  'member.expired': {
    action: 'expired',
    target: 'user',
    shown: 'removed due to membership expiration from',
    needs: 'project',
  },
  'push.created': { action: 'pushed', target: null, shown: 'pushed new', needs: 'code' },
  'push.pushed': { action: 'pushed', target: null, shown: 'pushed to', needs: 'code' },
  'push.removed': { action: 'pushed', target: null, shown: 'deleted', needs: 'code' },
  'issue.created': { action: 'created', target: 'issue', shown: 'opened', needs: 'issues' },
  'issue.reopened': { action: 'reopened', target: 'issue', shown: 'opened', needs: 'issues' },
  'issue.closed': { action: 'closed', target: 'issue', shown: 'closed', needs: 'issues' },
  'merge_request.created': {
    action: 'created',
    target: 'merge_request',
    shown: 'opened',
    needs: 'merge_requests',
  },
  'merge_request.reopened': {
    action: 'reopened',
    target: 'merge_request',
    shown: 'opened',
    needs: 'merge_requests',
  },
  'merge_request.closed': {
    action: 'closed',
    target: 'merge_request',
    shown: 'closed',
    needs: 'merge_requests',
  },
  'merge_request.merged': {
    action: 'merged',
    target: 'merge_request',
    shown: 'accepted',
    needs: 'merge_requests',
  },
  'merge_request.approved': {
    action: 'approved',
    target: 'merge_request',
    shown: 'approved',
    needs: 'merge_requests',
  },
  'milestone.created': { action: 'created', target: 'milestone', shown: 'opened', needs: 'work' },
  'milestone.reopened': { action: 'reopened', target: 'milestone', shown: 'opened', needs: 'work' },
  'milestone.closed': { action: 'closed', target: 'milestone', shown: 'closed', needs: 'work' },
  'milestone.destroyed': { action: 'destroyed', target: 'milestone', shown: 'destroyed', needs: 'work' },
  'issue.commented': { action: 'commented', target: 'note', shown: 'commented on', needs: 'issues' },
  'merge_request.commented': { action: 'commented', target: 'note', shown: 'commented on', needs: 'merge_requests' },
  'snippet.commented': { action: 'commented', target: 'note', shown: 'commented on', needs: 'snippets' },
  'commit.commented': { action: 'commented', target: 'note', shown: 'commented on', needs: 'code' },
})

export type Kind = keyof typeof KINDS
export const ALL_KINDS = Object.keys(KINDS) as Kind[]

/** Stored in `push`, and shown in records. */
export interface PushData {
  readonly commit_count: number
  readonly action: 'created' | 'pushed' | 'removed'
  readonly ref_type: 'branch' | 'tag'
  readonly commit_from: string | null
  readonly commit_to: string | null
  readonly ref: string
  readonly commit_title: string | null
}
