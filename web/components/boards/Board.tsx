/** An issue board: columns of cards. A card is moved by mouse, by keys (Shift and an arrow) or by its form. */
import type { Column } from './column.ts'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Records } from '../../api.ts'
import { useSurroundings } from '../../surroundings.ts'
import { ActButton, Button, Choice, Field, Form, fold } from '../Form.tsx'
import { Icon } from '../Icon.tsx'
import { Label } from '../State.tsx'
import { Card, cardId, type Move } from './Card.tsx'
import * as common from '../../texts/common.ts'
import * as t from '../../texts/planning.ts'
import './Board.css'

export interface BoardData {
  boards: Records['Board'][]
  board: Records['Board'] | null
  columns: Column[]
  labels: Records['Label'][]
}

interface BoardProps extends BoardData {
  board: Records['Board']
  /** The URL of something below the project or the group. */
  at: (rest: string) => string
  /** Whether the viewer may move cards and change lists. */
  mayPlan: boolean
  /** Whether issues can be created in its columns: a group board does not know their project. */
  mayAdd: boolean
}

export function Board({ at, boards, board, columns, labels, mayPlan, mayAdd }: BoardProps) {
  const { act } = useSurroundings()
  const [announcement, announce] = useState('')
  const moved = useRef<string | null>(null)
  useEffect(() => {
    if (moved.current !== null) document.getElementById(moved.current)?.focus()
    moved.current = null
  }, [columns])

  const move: Move = async (issue, from, to, neighbour = {}) => {
    const { iid, project_id: project } = issue
    const form = new FormData()
    for (const [name, value] of Object.entries({ project, iid, from, to, ...neighbour })) form.set(name, String(value))
    moved.current = cardId(issue)
    try {
      await act('move', form)
      announce(t.movedTo(iid, columns.find(({ key }) => key === to)?.title ?? to))
    } catch (error) {
      announce(t.couldNotMove(iid, error instanceof Error ? error.message : String(error)))
    }
  }
  const unused = labels.filter(({ name }) => !columns.some(({ key }) => key === name))
  return (
    <>
      <div class="head">
        <h1>{board.name}</h1>
        <div class="row">
          {boards.length > 1 && (
            <nav class="row" aria-label={common.boards}>
              {boards.map((one) => (
                <a href={at(`boards/${one.id}`)} aria-current={one.id === board.id || undefined} key={one.id}>
                  {one.name}
                </a>
              ))}
            </nav>
          )}
          {mayPlan && unused.length > 0 && (
            <Form action="addList" class="inline" id="addList">
              <input type="hidden" name="board_id" value={board.id} />
              <Choice
                name="label_id"
                label={t.labelForNewList}
                isQuiet
                options={unused.map(({ id, name }) => [String(id), name] as const)}
              />
              <Button>{t.addList}</Button>
            </Form>
          )}
          {mayPlan && (
            <details class="menu">
              <summary class="button">{common.boards}</summary>
              <div class="menu-items">
                <Form action="begin" class="inline" id="begin">
                  <Field name="name" label={t.boardName} isQuiet required placeholder={t.newBoard} />
                  <Button>{t.createBoard}</Button>
                </Form>
                {boards.length > 1 && (
                  <ActButton
                    action="removeBoard"
                    fields={{ board_id: board.id }}
                    kind="danger"
                    confirm={t.deleteBoardNameIssues(board.name)}
                  >
                    {t.deleteName(board.name)}
                  </ActButton>
                )}
              </div>
            </details>
          )}
        </div>
      </div>
      {mayPlan && <p class="quiet">{t.dragCardsBetweenLists}</p>}
      <p class="spoken" role="status">
        {announcement}
      </p>
      <div class="board" role="region" aria-label={t.lists} tabIndex={0}>
        {columns.map((column, n) => (
          <section
            class="board-list"
            aria-label={column.title}
            data-list={column.key}
            key={column.key}
            onDragOver={(event) => mayPlan && event.preventDefault()}
            onDrop={(event) => {
              event.preventDefault()
              const [id, from] = (event.dataTransfer?.getData('text/plain') ?? '').split(' ', 2)
              const source = columns[Number(from)]
              const issue = source?.issues.items.find((one) => String(one.id) === id)
              if (issue && source && source.key !== column.key) void move(issue, source.key, column.key)
            }}
          >
            <header>
              <h2>
                {column.color ? <Label of={{ name: column.title, color: column.color }} /> : column.title}
                <span class="count">{column.issues.total ?? column.issues.items.length}</span>
              </h2>
              {column.list !== null && mayPlan && (
                <ActButton
                  action="removeList"
                  id={`remove-${column.list}`}
                  kind="plain"
                  fields={{ board_id: board.id, list_id: column.list }}
                  label={t.removeList(column.title)}
                  confirm={t.removeListQuestion(column.title)}
                >
                  <Icon name="cross" />
                </ActButton>
              )}
            </header>
            {mayAdd && column.key !== 'closed' && (
              <details class="edit" onReset={fold}>
                <summary>
                  {t.newIssue} <span class="spoken">{t.inTitle(column.title)}</span>
                </summary>
                <Form action="add" id={`add-${column.key}`} resets>
                  <input type="hidden" name="list" value={column.key} />
                  <Field name="title" label={common.title} required isQuiet placeholder={common.title} />
                  <Button>{t.createIssue}</Button>
                </Form>
              </details>
            )}
            <ul class="cards" aria-label={t.issuesInTitle(column.title)}>
              {column.issues.items.map((issue, row) => (
                <Card
                  key={issue.id}
                  {...{ issue, labels, columns, column, move }}
                  mayMove={mayPlan}
                  columnAt={n}
                  above={column.issues.items[row - 1]}
                  under={column.issues.items[row + 1]}
                />
              ))}
            </ul>
            {column.issues.next !== null && (
              <a href={at(listOf(column.key))}>{t.allIssues(column.issues.total ?? '')}</a>
            )}
          </section>
        ))}
      </div>
    </>
  )
}

const listOf = (key: string) =>
  key === 'closed' || key === 'opened' ? `issues?state=${key}` : `issues?label_name[]=${encodeURIComponent(key)}`
