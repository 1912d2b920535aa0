/** An issue on a board. */
import type { Records } from '../../api.ts'
import { Avatar } from '../Avatar.tsx'
import { Button, Choice, Form, fold } from '../Form.tsx'
import { Icon } from '../Icon.tsx'
import { Label } from '../State.tsx'
import type { Column } from './column.ts'
import { pathOf } from '../../refs.ts'
import * as t from '../../texts/planning.ts'
import './Card.css'

type Issue = Records['Issue']

/** Group boards show issues of several projects, whose numbers repeat. */
export const cardId = ({ project_id, iid }: Pick<Issue, 'project_id' | 'iid'>) => `card-${project_id}-${iid}`

export type Move = (
  issue: Issue,
  from: string,
  to: string,
  neighbour?: { after?: number; before?: number },
) => Promise<void>

interface CardProps {
  issue: Issue
  labels: readonly Records['Label'][]
  columns: readonly Column[]
  column: Column
  columnAt: number
  above: Issue | undefined
  under: Issue | undefined
  mayMove: boolean
  move: Move
}

export function Card({ issue, labels, columns, column, columnAt, above, under, mayMove, move }: CardProps) {
  const { iid } = issue
  const shift = (event: KeyboardEvent) => {
    if (!mayMove || !event.shiftKey) return
    const side = columns[columnAt + (event.key === 'ArrowRight' ? 1 : -1)]
    if (event.key === 'ArrowRight' || event.key === 'ArrowLeft') {
      event.preventDefault()
      if (side) void move(issue, column.key, side.key)
    }
    if (event.key === 'ArrowUp' || event.key === 'ArrowDown') {
      event.preventDefault()
      if (event.key === 'ArrowUp' && above) void move(issue, column.key, column.key, { before: above.id })
      if (event.key === 'ArrowDown' && under) void move(issue, column.key, column.key, { after: under.id })
    }
  }
  const names = issue.labels.map((label) => (typeof label === 'string' ? label : label.name))
  return (
    <li
      class="board-card"
      draggable={mayMove}
      onDragStart={(event) => event.dataTransfer?.setData('text/plain', `${issue.id} ${columnAt}`)}
      onKeyDown={shift}
    >
      <a id={cardId(issue)} href={pathOf(issue.web_url)} draggable={false}>
        {issue.confidential && <Icon name="lock" />} {issue.title}
      </a>
      <div class="row">
        {names
          .filter((name) => name !== column.key)
          .map((name) => (
            <Label of={labels.find((label) => label.name === name) ?? { name }} key={name} />
          ))}
      </div>
      <div class="row item-facts">
        <span>{issue.references.relative}</span>
        {issue.due_date && <span>{t.due(issue.due_date)}</span>}
        {issue.assignees.map((one) => (
          <span title={one.name} key={one.id}>
            <Avatar of={one} size={16} />
            <span class="spoken">{t.assignedToName(one.name)}</span>
          </span>
        ))}
      </div>
      {mayMove && (
        <details class="edit" onSubmit={fold}>
          <summary>
            {t.move}
            <span class="spoken"> #{iid}</span>
          </summary>
          <Form action="move" id={`move-${issue.id}`} class="inline">
            <input type="hidden" name="project" value={issue.project_id} />
            <input type="hidden" name="iid" value={iid} />
            <input type="hidden" name="from" value={column.key} />
            <Choice
              name="to"
              label={t.listFor(iid)}
              isQuiet
              value={column.key}
              options={columns.map(({ key, title }) => [key, title] as const)}
            />
            <Button>{t.move}</Button>
          </Form>
        </details>
      )}
    </li>
  )
}
