/** A merge request: description, discussions, and whether it can be merged. */
import type { Listed, Records } from '../../../../api.ts'
import { CommentBox, Discussions, type Discussion } from '../../../../components/Discussions.tsx'
import { ApprovalRules, ruleActions } from '../../../../components/ApprovalRules.tsx'
import { linesOf, type DiffLine } from '../../../../components/diff-lines.ts'
import { Reactions } from '../../../../components/Reactions.tsx'
import { Prose } from '../../../../components/State.tsx'
import { timeActions } from '../../../../components/TimeTracking.tsx'
import { OF_MERGE_REQUESTS, noteActions } from '../../../../components/note-actions.ts'
import { Pages } from '../../../../components/lists.tsx'
import { below, projectFrame, type InProject, type Project } from '../../../../layout/project.tsx'
import { developersAmong } from '../../../../levels.ts'
import { page as declare, type PageRequest } from '../../../../page.ts'
import { mergeActions, planActions, reviewActions, stateActions } from '../actions.ts'
import { FinishReview } from '../FinishReview.tsx'
import { Head, liveOf, loadOne, requestParams, type Detail, type InRequest } from '../Head.tsx'
import { MergeBox } from '../MergeBox.tsx'
import { linesText } from '../../../../components/positions.ts'
import { DraftCard } from '../ReviewDiff.tsx'
import { Side, type SideData } from '../Side.tsx'
import { ApplyAll, Excerpt, Suggestions } from '../Suggestions.tsx'
import * as common from '../../../../texts/common.ts'
import * as t from '../../../../texts/merge-requests.ts'
import './index.css'

interface Data extends InRequest, SideData {
  description: string
  verdict: Records['Mergeability']
  approvals: Records['MergeRequestApprovals']
  ownRules: Records['MergeRequestApprovalRule'][]
  discussions: Listed<Discussion[]>
  drafts: Records['DraftNote'][]
  awards: Records['AwardEmoji'][]
  /** Diff lines above the lines of each thread, by thread. */
  contexts: Record<string, DiffLine[]>
}

const ONE = '/projects/{id}/merge_requests/{merge_request_iid}'

function load(request: PageRequest) {
  const { api, params, query } = request
  const id = params.id!
  const ids = requestParams(request)
  const one = loadOne(request)
  const few = { ...ids, per_page: 100 }
  const orNone = <T,>(list: Promise<T[] | null>) => list.then((found) => found ?? [])
  const discussions = api.list(`${ONE}/discussions`, {
    ...few,
    page: Number(query.get('page')) || 1,
    render_html: true,
  })
  return {
    one,
    contexts: contextsOf(request, one, discussions),
    description: one.then(async ({ description }) =>
      description ? (await api.post('/markdown', { text: description, gfm: true, project: id })).html : '',
    ),
    verdict: api.get(`${ONE}/mergeability`, ids),
    approvals: api.get(`${ONE}/approvals`, ids),
    ownRules: api.maybe(`${ONE}/approval_rules`, few).then((found) => found ?? []),
    discussions,
    drafts: orNone(api.maybe(`${ONE}/draft_notes`, few)),
    awards: orNone(api.maybe(`${ONE}/award_emoji`, few)),
    reviewers: api.get(`${ONE}/reviewers`, few),
    participants: api.get(`${ONE}/participants`, few),
    blocks: orNone(api.maybe(`${ONE}/blocks`, few)),
    blockees: orNone(api.maybe(`${ONE}/blockees`, few)),
    closes: orNone(api.maybe(`${ONE}/closes_issues`, few)).then((found) =>
      found.filter((issue): issue is Records['ClosedIssue'] => 'iid' in issue),
    ),
    labels: orNone(api.maybe('/projects/{id}/labels', { id, per_page: 100 })),
    milestones: orNone(api.maybe('/projects/{id}/milestones', { id, state: 'active', per_page: 100 })),
    members: orNone(api.maybe('/projects/{id}/members/all', { id, per_page: 100 })),
  }
}

/** With more files than this, threads are shown without their lines. */
const MOST_FILES = 50
const LINES_ABOVE = 4
const MOST_QUOTED = 20

async function contextsOf(request: PageRequest, one: Promise<Detail>, threads: Promise<Listed<Discussion[]>>) {
  const { diff_refs, changes_count } = await one
  const threadsInDiff = (await threads).items.flatMap(({ id, notes }) => {
    const position = notes[0]?.position
    return position && position.head_sha === diff_refs?.head_sha && !notes[0]?.resolved ? [{ id, position }] : []
  })
  if (threadsInDiff.length === 0 || Number.parseInt(changes_count ?? '0', 10) > MOST_FILES) return {}
  const files = (await request.api.maybe(`${ONE}/diffs`, { ...requestParams(request), per_page: MOST_FILES })) ?? []
  const entries = threadsInDiff.map(({ id, position }) => {
    const file = files.find(({ new_path }) => new_path === (position.new_path ?? position.old_path))
    const lines = file ? linesOf(file.diff) : []
    const at = lines.findIndex((line) => line.old === position.old_line && line.new === position.new_line)
    const { start } = position.line_range ?? {}
    const first = lines.findIndex((line) => line.old === start?.old_line && line.new === start?.new_line)
    const from = first < 0 ? at - LINES_ABOVE : Math.max(first, at - MOST_QUOTED)
    return [id, lines.slice(Math.max(0, from), at + 1).filter(({ kind }) => kind !== 'hunk')] as const
  })
  return Object.fromEntries(entries)
}

export const page = declare<Data, InProject>({
  frame: projectFrame,
  signedIn: true,
  load,
  title: ({ one }) => `${one.title} (!${one.iid})`,
  description: ({ one }) => one.description,
  actions: {
    ...noteActions(OF_MERGE_REQUESTS),
    ...stateActions,
    ...mergeActions,
    ...reviewActions,
    ...planActions,
    ...ruleActions('merge_request'),
    ...timeActions('merge_requests'),
  },
  live: ({ one }) => liveOf(one),
  View: (data) => {
    const { one, project, me, description, discussions, drafts, approvals } = data
    return (
      <>
        <Head one={one} project={project} tab="" />
        <div class="columns">
          <div>
            <section class="request-text" aria-label={common.description}>
              {description ? <Prose html={description} /> : <p class="quiet">{common.noDescription}</p>}
              <Reactions awards={data.awards} me={me} mayComment={one.can.comment} />
            </section>
            <MergeBox {...data} project={project} />
            {one.state === 'opened' && (one.can.plan || data.ownRules.length > 0) && (
              <details class="own-rules" open={data.ownRules.length > 0}>
                <summary>{t.approvalRules}</summary>
                <ApprovalRules
                  rules={data.ownRules}
                  people={developersAmong(data.members)}
                  mayChange={one.can.plan}
                  empty={t.usesApprovalRulesOfProject}
                />
              </details>
            )}
            <section id="conversation" aria-label={common.comments}>
              <Discussions
                discussions={discussions.items}
                me={me}
                mayComment={one.can.comment}
                mayModerate={project.can.administer}
                mayResolve={one.can.resolve}
                context={(discussion) => (
                  <Where
                    discussion={discussion}
                    one={one}
                    project={project}
                    lines={data.contexts[discussion.id] ?? []}
                  />
                )}
                extra={(note) => <Suggestions note={note} mayApply={one.can.update && one.state === 'opened'} />}
              />
              {one.can.update && one.state === 'opened' && <ApplyAll discussions={discussions.items} />}
              <Pages of={discussions} />
              {drafts.length > 0 && (
                <>
                  <h2>{t.yourPendingComments}</h2>
                  {drafts.map((draft) => (
                    <DraftCard draft={draft} key={draft.id} />
                  ))}
                  <FinishReview one={one} drafts={drafts} approvals={approvals} me={me} />
                </>
              )}
              {one.can.comment && <CommentBox />}
            </section>
          </div>
          <Side {...data} project={project} />
        </div>
      </>
    )
  },
})

/** The lines of a thread. */
interface WhereProps {
  discussion: Discussion
  one: Detail
  project: Project
  lines: readonly DiffLine[]
}

function Where({ discussion, one, project, lines }: WhereProps) {
  const position = discussion.notes[0]?.position
  if (!position) return null
  const path = position.new_path ?? position.old_path
  const isCurrent = position.head_sha === one.diff_refs?.head_sha
  return (
    <>
      <p class="thread-place">
        <a href={below(project, `merge_requests/${one.iid}/diffs#note_${discussion.notes[0]!.id}`)}>
          <code>
            {path}:{linesText(position)}
          </code>
        </a>
        {!isCurrent && <span class="badge">{t.outdated}</span>}
      </p>
      {lines.length > 0 && <Excerpt lines={lines} />}
    </>
  )
}
