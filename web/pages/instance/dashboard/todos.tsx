/** The viewer's todos. A done todo can be restored. */
import type { Listed, Records } from '../../../api.ts'
import { Avatar } from '../../../components/Avatar.tsx'
import { ActButton } from '../../../components/Form.tsx'
import { Icon } from '../../../components/Icon.tsx'
import { Empty, Pages, Row, Rows, Tabs } from '../../../components/lists.tsx'
import { Time } from '../../../components/Time.tsx'
import { page as declare, text } from '../../../page.ts'
import { undoable } from '../../../undo.ts'
import { withQuery } from '../../../query.ts'
import * as common from '../../../texts/common.ts'
import * as t from '../../../texts/home.ts'

type Todo = Records['Todo']

interface Data {
  todos: Listed<Todo[]>
  pending: number | null
}

const stateIn = (query: URLSearchParams) => (query.get('state') === 'done' ? 'done' : 'pending')

const WORDS: Partial<Record<Todo['action_name'], string>> = {
  assigned: t.assignedYou,
  mentioned: t.mentionedYouIn,
  directly_addressed: t.directlyAddressedYouIn,
  marked: t.addedToDoItemFor,
  review_requested: t.requestedReviewOf,
  review_submitted: 'reviewed',
  approval_required: t.requestedApprovalOf,
  build_failed: t.hadFailedPipelineIn,
  unmergeable: t.cannotMerge,
}

export const page = declare<Data>({
  signedIn: true,
  load: ({ api, query }) => ({
    todos: api.list('/todos', { state: stateIn(query), per_page: 20, page: Number(query.get('page')) || 1 }),
    pending: api.list('/todos', { state: 'pending', per_page: 1 }).then(({ total }) => total),
  }),
  title: () => common.toDoList,
  live: () => ({ path: '/user/live', events: ['todo.created', 'todo.done'] }),
  actions: {
    async done({ api, form }) {
      const { project, target, target_type } = await api.post('/todos/{id}/mark_as_done', { id: text(form, 'todo') })
      if (!('iid' in target)) return
      return undoable(t.markedAsDone, 'undo', { project: project.id, iid: target.iid, type: target_type })
    },
    async allDone({ api }) {
      await api.post('/todos/mark_as_done', {})
    },
    async undo({ api, form }) {
      const id = text(form, 'project')
      const iid = text(form, 'iid')
      if (text(form, 'type') === 'Issue')
        await api.post('/projects/{id}/issues/{issue_iid}/todo', { id, issue_iid: iid })
      else await api.post('/projects/{id}/merge_requests/{merge_request_iid}/todo', { id, merge_request_iid: iid })
    },
  },
  View: ({ todos, pending, query, address }) => {
    const state = stateIn(query)
    return (
      <>
        <div class="head">
          <h1>{common.toDoList}</h1>
          {state === 'pending' && todos.items.length > 0 && (
            <ActButton action="allDone" confirm={t.markAllToDoItems}>
              <Icon name="check" /> {t.markAllAsDone}
            </ActButton>
          )}
        </div>
        <Tabs
          label={common.state}
          tabs={[
            {
              text: t.toDo,
              href: withQuery(address, { state: 'pending' }),
              count: pending,
              isCurrent: state === 'pending',
            },
            { text: t.doneTab, href: withQuery(address, { state: 'done' }), isCurrent: state === 'done' },
          ]}
        />
        {todos.items.length === 0 ? (
          <Empty title={state === 'pending' ? t.youreAllCaughtUp : t.noCompletedItems}>
            <p>{t.assignmentsMentionsAndReviewRequests}</p>
          </Empty>
        ) : (
          <Rows label={common.toDoList}>
            {todos.items.map((todo) => (
              <Item todo={todo} key={todo.id} />
            ))}
          </Rows>
        )}
        <Pages of={todos} />
      </>
    )
  },
})

function Item({ todo }: { todo: Todo }) {
  const { target } = todo
  const iid = 'iid' in target ? target.iid : null
  const title = target.title
  const { pathname, hash } = new URL(todo.target_url)
  const fields = { project: todo.project.id, iid: iid ?? '', type: todo.target_type }
  return (
    <Row
      lead={<Avatar of={todo.author} size={24} />}
      title={
        <span class="in-text">
          {todo.author.name} {WORDS[todo.action_name] ?? todo.action_name.replaceAll('_', ' ')}{' '}
          <a href={pathname + hash}>{title}</a>
        </span>
      }
      facts={
        <>
          {todo.project.path_with_namespace} {iid !== null && `${todo.target_type === 'Issue' ? '#' : '!'}${iid}`} ·{' '}
          <Time at={todo.created_at} />
          {todo.body !== title && <> · “{todo.body.slice(0, 200)}”</>}
        </>
      }
      aside={
        todo.state === 'pending' ? (
          <ActButton action="done" id={`done-${todo.id}`} fields={{ todo: todo.id }}>
            <Icon name="check" /> {t.doneTab}
            <span class="spoken">: {title}</span>
          </ActButton>
        ) : (
          iid !== null && (
            <ActButton action="undo" id={`undo-${todo.id}`} fields={fields}>
              {common.undo}
              <span class="spoken">: {title}</span>
            </ActButton>
          )
        )
      }
    />
  )
}
