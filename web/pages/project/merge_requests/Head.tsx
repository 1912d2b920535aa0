/** The header of every tab of a merge request: title, state, branches. */
import type { Can } from '../../../abilities.ts'
import type { Records } from '../../../api.ts'
import { Person } from '../../../components/Avatar.tsx'
import { ActButton } from '../../../components/Form.tsx'
import { Icon } from '../../../components/Icon.tsx'
import { RequestState } from '../../../components/MergeRequests.tsx'
import { Time } from '../../../components/Time.tsx'
import { Tabs } from '../../../components/lists.tsx'
import { below, type Project } from '../../../layout/project.tsx'
import type { Live, PageRequest } from '../../../page.ts'
import { locationAddress } from '../../../refs.ts'
import { rich } from '../../../rich.ts'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/merge-requests.ts'
import './Head.css'

export type Detail = Records['MergeRequestDetail'] & { can: Can<'mergeRequest'> }

export interface InRequest {
  one: Detail
}

export const requestParams = ({ params }: Pick<PageRequest, 'params'>) => ({
  id: params.id!,
  merge_request_iid: params.iid!,
})

export function loadOne(request: PageRequest): Promise<Detail> {
  const of = requestParams(request)
  const one = request.api.get('/projects/{id}/merge_requests/{merge_request_iid}', {
    ...of,
    include_diverged_commits_count: true,
    include_rebase_in_progress: true,
  })
  return request.api.withAbilities('mergeRequest', of, one)
}

/** Live events: actions of others, and changes of its pipelines and branches. */
export function liveOf(one: Detail): Live {
  const acts = 'updated closed reopened merged pushed approved unapproved unmergeable'.split(' ')
  const ofNotes = ['note.created', 'note.updated', 'note.deleted', 'award_emoji.created', 'award_emoji.deleted']
  return {
    path: `/projects/${one.project_id}/live`,
    events: [
      ...acts.map((act) => `merge_request.${act}`),
      ...ofNotes,
      'pipeline.changed',
      'repository.changed',
      'label.updated',
    ],
    about: ({ iid }) => iid === undefined || iid === one.iid,
  }
}

export type TabName = '' | 'commits' | 'diffs' | 'versions' | 'pipelines'

const TABS: readonly [TabName, string, (one: Detail) => number | null][] = [
  ['', common.overview, (one) => one.user_notes_count],
  ['commits', common.commits, () => null],
  ['diffs', common.changes, (one) => (one.changes_count ? Number.parseInt(one.changes_count, 10) : 0)],
  ['versions', t.versions, () => null],
  ['pipelines', common.pipelines, () => null],
]

interface HeadProps {
  one: Detail
  project: Project
  tab: TabName
}

export function Head({ one, project, tab }: HeadProps) {
  const at = below(project, `merge_requests/${one.iid}`)
  return (
    <header class="request-head">
      <div class="head">
        <h1>
          {one.title} <span class="quiet">!{one.iid}</span>
        </h1>
        {one.can.update && (
          <div class="row">
            {one.state === 'opened' && <DraftButton one={one} />}
            <a class="button" href={`${at}/edit`}>
              <Icon name="pencil" /> {common.edit}
            </a>
            {one.state === 'opened' && (
              <ActButton action="close" kind="danger" confirm={t.closeThisMergeRequest}>
                {common.close}
              </ActButton>
            )}
            {one.state === 'closed' && <ActButton action="reopen">{common.reopen}</ActButton>}
          </div>
        )}
      </div>
      <p class="request-facts">
        <RequestState of={one} />
        <span>
          {rich(t.personWantsToMergeBranch, {
            person: <Person of={one.author} />,
            branch: (
              <Branch
                name={one.source_branch}
                project={project}
                isForeign={one.source_project_id !== one.target_project_id}
              />
            ),
            branch2: <Branch name={one.target_branch} project={project} />,
            time: <Time at={one.created_at} />,
          })}
        </span>
      </p>
      <Stack one={one} project={project} />
      <Tabs
        label={common.mergeRequest}
        tabs={TABS.map(([name, text, count]) => ({
          text,
          href: name === '' ? at : `${at}/${name}`,
          count: count(one),
          isCurrent: name === tab,
        }))}
      />
    </header>
  )
}

const DraftButton = ({ one }: { one: Detail }) =>
  one.draft ? (
    <ActButton action="ready">{t.markAsReady}</ActButton>
  ) : (
    <ActButton action="draft">{t.markAsDraft}</ActButton>
  )

interface BranchProps {
  name: string
  project: Project
  /** From a fork. */
  isForeign?: boolean
}

const Branch = ({ name, project, isForeign = false }: BranchProps) =>
  isForeign ? (
    <code title={t.inFork}>{t.forkName(name)}</code>
  ) : (
    <a href={locationAddress(project, 'tree', name)}>
      <code>{name}</code>
    </a>
  )

/** Merge requests whose branches build on each other. */
function Stack({ one, project }: { one: Detail; project: Project }) {
  const { parent, children } = one.stack
  if (!parent && children.length === 0) return null
  const link = ({ iid, title }: { iid: number; title: string }) => (
    <a href={below(project, `merge_requests/${iid}`)}>
      !{iid} {title}
    </a>
  )
  return (
    <nav class="request-stack" aria-label={t.stack}>
      <ol>
        {parent && (
          <li>
            <Icon name="branch" /> {rich(t.linkParent, { link: link(parent) })}
          </li>
        )}
        <li aria-current="true">
          <Icon name="merge-request" /> !{one.iid} {one.title}
        </li>
        {children.map((child) => (
          <li key={child.iid}>
            <Icon name="branch" /> {rich(t.linkChild, { link: link(child) })}
          </li>
        ))}
      </ol>
    </nav>
  )
}
