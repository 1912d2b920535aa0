/** Lists of merge requests: of a project, of a group, of the viewer. */
import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import type { Listed, Records } from '../api.ts'
import { useSurroundings } from '../surroundings.ts'
import { withQuery } from '../query.ts'
import { Avatar, Person } from './Avatar.tsx'
import { Pick } from './BulkEdit.tsx'
import { Choice, Field, useValue } from './Form.tsx'
import { Icon } from './Icon.tsx'
import { Label, State } from './State.tsx'
import { Time } from './Time.tsx'
import { Empty, Pages, Row, Rows, Tabs, type Tab } from './lists.tsx'
import { pathOf } from '../refs.ts'
import { rich } from '../rich.ts'
import * as common from '../texts/common.ts'
import * as t from '../texts/merge-requests.ts'
import './MergeRequests.css'

export type MergeRequest = Records['MergeRequest']

export const STATES = ['opened', 'merged', 'closed', 'all'] as const
export type StateFilter = (typeof STATES)[number]
const WORDS: Record<StateFilter, string> = {
  opened: common.open,
  merged: common.merged,
  closed: common.closed,
  all: common.all,
}

const SORTS = [
  ['created_desc', common.newest],
  ['created_asc', common.oldest],
  ['updated_desc', common.lastUpdated],
  ['updated_asc', t.leastRecentlyUpdated],
  ['merged_desc', t.recentlyMerged],
  ['popularity_desc', common.mostPopular],
  ['title_asc', common.title],
] as const

const ORDERS = {
  created: 'created_at',
  updated: 'updated_at',
  merged: 'merged_at',
  popularity: 'popularity',
  title: 'title',
} as const

export const stateOf = (query: URLSearchParams): StateFilter =>
  STATES.find((state) => state === query.get('state')) ?? 'opened'

/** The filters of the URL, as API parameters. */
export function filterOf(query: URLSearchParams) {
  const given = (name: string) => query.get(name)?.trim() || undefined
  const [by = '', direction] = (given('sort') ?? 'created_desc').split('_')
  const draft = given('draft')
  const assignee = given('assignee')
  return {
    search: given('search'),
    author_username: given('author'),
    ...(assignee && { assignee_username: [assignee] }),
    reviewer_username: given('reviewer'),
    milestone: given('milestone'),
    target_branch: given('target'),
    ...(given('labels') && { labels: labelNames(given('labels')!) }),
    ...((draft === 'yes' || draft === 'no') && { wip: draft as 'yes' | 'no' }),
    order_by: ORDERS[by as keyof typeof ORDERS] ?? 'created_at',
    sort: direction === 'asc' ? ('asc' as const) : ('desc' as const),
    with_labels_details: true,
    page: Math.max(1, Math.trunc(Number(query.get('page'))) || 1),
    per_page: 20,
  }
}

export const labelNames = (text: string) =>
  text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')

const FILTERS = ['search', 'author', 'assignee', 'reviewer', 'milestone', 'target', 'labels', 'draft']

export const isFiltered = (query: URLSearchParams) => FILTERS.some((name) => query.get(name))

/** Tabs by state, each with its count if known. */
export function StateTabs({ counts }: { counts?: Partial<Record<StateFilter, number | null>> }) {
  const { address, query } = useSurroundings()
  const current = stateOf(query)
  const tabs = STATES.map((state): Tab => ({
    text: WORDS[state],
    href: withQuery(address, { state: state === 'opened' ? null : state }),
    count: counts?.[state],
    isCurrent: state === current,
  }))
  return <Tabs label={common.status} tabs={tabs} />
}

export function Filters({ labels = [], milestones = [] }: { labels?: string[]; milestones?: string[] }) {
  const { address, query } = useSurroundings()
  const value = (name: string) => query.get(name) ?? ''
  const isOpen = FILTERS.slice(1).some((name) => query.get(name))
  return (
    <form class="review-filters" action={address.split('?', 1)[0]} role="search" aria-label={common.mergeRequests}>
      {query.get('state') && <input type="hidden" name="state" value={value('state')} />}
      {query.get('scope') && <input type="hidden" name="scope" value={value('scope')} />}
      <div class="review-search">
        <Field
          name="search"
          label={t.searchTitlesAndDescriptions}
          type="search"
          isQuiet
          placeholder={common.search}
          value={value('search')}
        />
        <Choice name="sort" label={common.sortBy} isQuiet options={SORTS} value={value('sort') || 'created_desc'} />
        <button class="button">{common.search}</button>
      </div>
      <details open={isOpen}>
        <summary>{t.moreFilters}</summary>
        <div class="review-more">
          <Field name="author" label={common.author} value={value('author')} placeholder={t.username} />
          <Field name="assignee" label={common.assignee} value={value('assignee')} placeholder={t.username} />
          <Field name="reviewer" label={t.reviewer} value={value('reviewer')} placeholder={t.username} />
          <Listing name="labels" label={common.labels} of={labels} value={value('labels')} />
          <Listing name="milestone" label={common.milestone} of={milestones} value={value('milestone')} />
          <Field name="target" label={common.targetBranch} value={value('target')} />
          <Choice
            name="draft"
            label={t.drafts}
            options={[
              ['', t.shown],
              ['no', t.hidden],
              ['yes', t.onlyDrafts],
            ]}
            value={value('draft')}
          />
        </div>
      </details>
    </form>
  )
}

interface ListingProps {
  name: string
  label: string
  of: readonly string[]
  value?: string
  required?: boolean
  hint?: string
}

/** A text field with suggestions. */
export function Listing({ name, label, of, value = '', required, hint }: ListingProps) {
  // Several forms of a page may have a field with this name.
  const list = useId()
  return (
    <label class="field">
      <span class="field-label">{label}</span>
      <input name={name} list={list} defaultValue={useValue(name, value)} required={required} autocomplete="off" />
      <datalist id={list}>
        {of.map((one) => (
          <option value={one} key={one} />
        ))}
      </datalist>
      {hint && <small class="quiet">{hint}</small>}
    </label>
  )
}

export const labelsOf = (one: { labels: MergeRequest['labels'] }) =>
  one.labels.map((label) => (typeof label === 'string' ? { name: label, color: null } : label))

interface RequestsProps {
  of: Listed<MergeRequest[]>
  empty: ComponentChildren
  /** For lists of several projects. */
  isFromMany?: boolean
  /** The usual target branch, which is not shown. */
  usualTarget?: string | null | undefined
  /** Wraps the rows for bulk edit. */
  around?: (rows: ComponentChildren) => ComponentChildren
}

export function Requests({ of, empty, isFromMany = false, usualTarget, around }: RequestsProps) {
  const { query, address } = useSurroundings()
  if (of.items.length === 0)
    return isFiltered(query) ? (
      <Empty title={t.noMatchingMergeRequests}>
        <p>
          <a href={address.split('?', 1)[0]}>{t.clearFilters}</a>
        </p>
      </Empty>
    ) : (
      <>{empty}</>
    )
  const rows = (
    <Rows label={common.mergeRequests}>
      {of.items.map((one) => (
        <RequestRow one={one} isChosenFrom={around !== undefined} {...{ isFromMany, usualTarget }} key={one.id} />
      ))}
    </Rows>
  )
  return (
    <>
      {around?.(rows) ?? rows}
      <Pages of={of} />
    </>
  )
}

interface RowProps {
  one: MergeRequest
  isFromMany: boolean
  usualTarget: string | null | undefined
  isChosenFrom: boolean
}

function RequestRow({ one, isFromMany, usualTarget, isChosenFrom }: RowProps) {
  const moment = one.state === 'merged' ? one.merged_at : one.state === 'closed' ? one.closed_at : null
  return (
    <Row
      lead={
        <>
          {isChosenFrom && <Pick iid={one.iid} title={one.title} />}
          <RequestState of={one} isShort />
        </>
      }
      title={
        <span class="review-title">
          <a href={pathOf(one.web_url)}>{one.title}</a>
          {labelsOf(one).map((label) => (
            <Label of={label} key={label.name} />
          ))}
        </span>
      }
      facts={
        <>
          {rich(t.fullOpenedTimeByPerson, {
            full: isFromMany ? one.references.full : one.references.short,
            time: <Time at={one.created_at} />,
            person: <Person of={one.author} />,
          })}
          {moment && (
            <>
              {', '}
              {one.state} <Time at={moment} />
            </>
          )}
          {one.target_branch !== usualTarget && (
            <> {rich(t.intoTargetBranch, { targetBranch: <code>{one.target_branch}</code> })}</>
          )}
          {one.milestone && ` · ${one.milestone.title}`}
          {one.task_completion_status.count > 0 &&
            t.tasksDone(one.task_completion_status.completed_count, one.task_completion_status.count)}
        </>
      }
      aside={
        <>
          {one.state === 'opened' && one.has_conflicts && (
            <span class="state" data-tone="bad" title={t.mergeConflictsWithTargetBranch}>
              <Icon name="warning" />
              <span class="spoken">{t.conflicts}</span>
            </span>
          )}
          {one.reviewers.length > 0 && <Faces of={one.reviewers} label={t.reviewers} />}
          {one.assignees.length > 0 && <Faces of={one.assignees} label={common.assignees} />}
          {one.user_notes_count > 0 && (
            <span title={t.commentCount(one.user_notes_count)}>
              <Icon name="comment" /> {one.user_notes_count}
            </span>
          )}
        </>
      }
    />
  )
}

/** Avatars of a few users; their names are in the label and the tooltip. */
export function Faces({ of, label }: { of: readonly Records['UserSummary'][]; label: string }) {
  const names = `${label}: ${of.map(({ name }) => name).join(', ')}`
  return (
    <span class="review-faces" title={names}>
      <span class="spoken">{names}</span>
      {of.slice(0, 4).map((one) => (
        <Avatar of={one} size={24} key={one.id} />
      ))}
      {of.length > 4 && <span class="quiet">+{of.length - 4}</span>}
    </span>
  )
}

const STATE_LOOKS = {
  opened: ['good', 'merge-request', common.open],
  closed: ['bad', 'cross', common.closed],
  merged: ['done', 'branch', common.merged],
  draft: ['idle', 'pencil', t.draft],
} as const

/** For a merge request "closed" means that it was not merged, so it is not shown as done. */
export function RequestState({
  of,
  isShort = false,
}: {
  of: Pick<MergeRequest, 'state' | 'draft'>
  isShort?: boolean
}) {
  const look = STATE_LOOKS[of.state === 'opened' && of.draft ? 'draft' : of.state] as
    | (typeof STATE_LOOKS)['opened']
    | undefined
  if (!look) return <State of={of.state} isShort={isShort} />
  const [tone, icon, word] = look
  return (
    <span class="state" data-tone={tone} data-state={of.state} title={word}>
      <Icon name={icon} />
      <span class={isShort ? 'spoken' : ''}>{word}</span>
    </span>
  )
}
