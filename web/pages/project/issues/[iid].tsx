/** An issue: description, discussions and properties. */
import type { Can } from '../../../abilities.ts'
import type { Listed, Records } from '../../../api.ts'
import { Person } from '../../../components/Avatar.tsx'
import { CommentBox, Discussions } from '../../../components/Discussions.tsx'
import { deletedItemFlash } from '../../../components/DeletedItems.tsx'
import { ActButton, Button, Field, Folded, Form } from '../../../components/Form.tsx'
import { Icon } from '../../../components/Icon.tsx'
import { Pages } from '../../../components/lists.tsx'
import { Reactions } from '../../../components/Reactions.tsx'
import { State } from '../../../components/State.tsx'
import { timeActions } from '../../../components/TimeTracking.tsx'
import { Time } from '../../../components/Time.tsx'
import { WritingArea } from '../../../components/WritingArea.tsx'
import { OF_ISSUES, noteActions } from '../../../components/note-actions.ts'
import { word } from '../../../fields.ts'
import { projectFrame, type InProject } from '../../../layout/project.tsx'
import { page as declare, text, type Act } from '../../../page.ts'
import { undoable } from '../../../undo.ts'
import { choicesFor } from './choices.ts'
import { Description } from './Description.tsx'
import { planFields, planOf, type Choices } from './Fields.tsx'
import { Sidebar, type Related } from './Sidebar.tsx'
import { tick } from './tasks.ts'
import { pathOf } from '../../../refs.ts'
import { rich } from '../../../rich.ts'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/planning.ts'
import './[iid].css'

interface Data extends Choices, Related {
  issue: Records['Issue'] & { can: Can<'issue'> }
  discussions: Listed<Records['Discussion'][]>
  awards: Records['AwardEmoji'][]
}

const ISSUE = '/projects/{id}/issues/{issue_iid}'
const which = ({ params }: Pick<Act, 'params'>) => ({ id: params.id!, issue_iid: params.iid! })
const noteable = noteActions(OF_ISSUES)

/** `#3`, `group/project#3` or a URL. */
const REFERENCE = /^(?:https?:\/\/[^/]+\/)?(.*?)(?:\/-)?(?:\/issues\/|#)(\d+)$/

export const page = declare<Data, InProject>({
  frame: projectFrame,
  load: (request) => {
    const { api, query } = request
    const issue = which(request)
    const some = <T,>(list: Promise<T[] | null>) => list.then((found) => found ?? [])
    return {
      issue: api.withAbilities('issue', issue, api.get(ISSUE, { ...issue, render_html: true })),
      discussions: api.list(`${ISSUE}/discussions`, {
        ...issue,
        render_html: true,
        per_page: 100,
        page: Number(query.get('page')) || 1,
      }),
      awards: some(api.maybe(`${ISSUE}/award_emoji`, { ...issue, per_page: 100 })),
      participants: some(api.maybe(`${ISSUE}/participants`, { ...issue, per_page: 20 })),
      requests: some(api.maybe(`${ISSUE}/related_merge_requests`, { ...issue, per_page: 20 })),
      links: some(api.maybe(`${ISSUE}/links`, { ...issue, per_page: 20 })),
      ...choicesFor(request),
    }
  },
  title: ({ issue }) => `${issue.title} (#${issue.iid})`,
  description: ({ issue }) => issue.description,
  live: ({ issue }) => ({
    path: `/projects/${issue.project_id}/live`,
    events: [
      'issue.updated',
      'note.created',
      'note.updated',
      'note.deleted',
      'award_emoji.created',
      'award_emoji.deleted',
    ],
    about: ({ iid }) => iid === undefined || iid === issue.iid,
  }),
  actions: {
    ...noteable,
    ...timeActions('issues'),
    async comment(act) {
      const event = text(act.form, 'state_event')
      if (text(act.form, 'body').trim() !== '') await noteable.comment!(act)
      if (event !== 'close' && event !== 'reopen') return
      await act.api.put(ISSUE, { ...which(act), state_event: event })
      const [done, reverse] = event === 'close' ? [t.issueClosed, 'reopen'] : [t.issueReopened, 'close']
      return undoable(done!, 'comment', { state_event: reverse! })
    },
    async describe(act) {
      const { form } = act
      await act.api.put(ISSUE, { ...which(act), title: text(form, 'title'), description: text(form, 'description') })
    },
    async tick(act) {
      const { description } = await act.api.get(ISSUE, which(act))
      const changed = tick(description ?? '', Number(text(act.form, 'index')), text(act.form, 'done') === 'true')
      if (changed !== null) await act.api.put(ISSUE, { ...which(act), description: changed })
    },
    async plan(act) {
      const discussion_locked = text(act.form, 'discussion_locked') === 'true'
      const before = await act.api.get(ISSUE, which(act))
      await act.api.put(ISSUE, { ...which(act), ...planOf(act.form), discussion_locked })
      return undoable(t.issueUpdated, 'plan', planFields(before))
    },
    async follow(act) {
      const isOn = text(act.form, 'on') === 'true'
      await act.api.post(isOn ? `${ISSUE}/subscribe` : `${ISSUE}/unsubscribe`, which(act))
    },
    async remember(act) {
      await act.api.post(`${ISSUE}/todo`, which(act))
      return { flash: { done: t.addedToYourToDoList } }
    },
    async link(act) {
      const [, path, iid] = REFERENCE.exec(text(act.form, 'target').trim()) ?? []
      await act.api.post(`${ISSUE}/links`, {
        ...which(act),
        target_project_id: path || act.params.id!,
        target_issue_iid: Number(iid ?? 0),
        link_type: word<'relates_to' | 'blocks' | 'is_blocked_by'>(act.form, 'link_type'),
      })
    },
    async unlink(act) {
      await act.api.delete(`${ISSUE}/links/{issue_link_id}`, { ...which(act), issue_link_id: text(act.form, 'link') })
    },
    async move(act) {
      const { id } = await act.api.get('/projects/{id}', { id: text(act.form, 'project').trim() })
      return pathOf((await act.api.post(`${ISSUE}/move`, { ...which(act), to_project_id: id })).web_url)
    },
    async destroy(act) {
      const { title } = await act.api.get(ISSUE, which(act))
      await act.api.delete(ISSUE, which(act))
      const flash = await deletedItemFlash(act, '/projects/{id}', { kind: 'issue', title }, t.issueDeleted(title))
      return { ...flash, to: `/${act.params.id}/-/issues` }
    },
  },
  View: ({ project, issue, discussions, awards, me, ...sidebar }) => {
    const { can } = issue
    const isOpen = issue.state === 'opened'
    return (
      <>
        <header class="issue-head">
          <h1>
            {issue.title} <span class="quiet">#{issue.iid}</span>
          </h1>
          <div class="row">
            <State of={issue.state} />
            {issue.confidential && (
              <span class="badge">
                <Icon name="lock" /> {t.confidentialBadge}
              </span>
            )}
            {issue.discussion_locked && (
              <span class="badge">
                <Icon name="lock" /> {t.locked}
              </span>
            )}
            <span class="quiet">
              {rich(t.openedTimeByPerson, {
                time: <Time at={issue.created_at} />,
                person: <Person of={issue.author} />,
              })}
            </span>
          </div>
        </header>
        <div class="columns">
          <div>
            <section class="card" aria-label={common.description}>
              <header>
                <Person of={issue.author} />
                {issue.task_completion_status.count > 0 && <span class="quiet">{issue.task_status}</span>}
              </header>
              <div class="card-body">
                <Description html={issue.description_html ?? ''} mayTick={can.update} />
                <div class="note-foot">
                  <Reactions awards={awards} me={me} mayComment={can.comment} />
                  {can.update && <Edit issue={issue} />}
                </div>
              </div>
            </section>
            <Discussions
              discussions={discussions.items}
              me={me}
              mayComment={can.comment}
              mayModerate={project.can.administer}
            />
            <Pages of={discussions} />
            {can.comment ? (
              <CommentBox mayBeInternal={can.plan}>
                {can.update && (
                  <Button name="state_event" value={isOpen ? 'close' : 'reopen'}>
                    {isOpen ? t.closeIssue : t.reopenIssue}
                  </Button>
                )}
              </CommentBox>
            ) : (
              <p class="quiet">
                {me
                  ? issue.discussion_locked && t.thisDiscussionIsLockedOnly
                  : rich(t.signInToComment, {
                      link: (text) => (
                        <a
                          href={`/users/sign_in?return_to=${encodeURIComponent(`/${project.path_with_namespace}/-/issues/${issue.iid}`)}`}
                        >
                          {text}
                        </a>
                      ),
                    })}
              </p>
            )}
          </div>
          <aside class="side" aria-label={common.properties}>
            <Sidebar {...sidebar} project={project} issue={issue} />
            {can.destroy && (
              <ActButton action="destroy" kind="danger" confirm={t.deleteThisIssueAndAllComments}>
                <Icon name="trash" /> {t.deleteIssue}
              </ActButton>
            )}
          </aside>
        </div>
      </>
    )
  },
})

const Edit = ({ issue }: { issue: Records['Issue'] }) => (
  <Folded action="describe">
    <summary>{common.edit}</summary>
    <Form action="describe" resets>
      <Field name="title" label={common.title} required value={issue.title} />
      <WritingArea name="description" label={common.description} lines={10} value={issue.description} />
      <Button kind="main">{common.save}</Button>
    </Form>
  </Folded>
)
