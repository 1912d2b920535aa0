/** A board of a project. */
import { Board, type BoardData } from '../../../components/boards/Board.tsx'
import { boardActions, loadBoard } from '../../../components/boards/board.ts'
import { PlanningTabs } from '../../../layout/planning.tsx'
import { below, projectFrame, type InProject } from '../../../layout/project.tsx'
import { page as declare } from '../../../page.ts'
import * as t from '../../../texts/planning.ts'

export const page = declare<BoardData, InProject>({
  frame: projectFrame,
  load: (request) => loadBoard('project', request, request.params.board_id ?? null),
  title: ({ board }) => board?.name ?? t.board,
  live: ({ project }) => ({ path: `/projects/${project.id}/live`, events: ['issue.created', 'issue.updated'] }),
  actions: boardActions('project'),
  View: ({ project, boards, board, columns, labels }) =>
    board && (
      <>
        <PlanningTabs project={project} at="boards" />
        <Board
          {...{ boards, board, columns, labels }}
          at={(rest) => below(project, rest)}
          mayPlan={project.can.planBoards}
          mayAdd={project.can.createIssue}
        />
      </>
    ),
})
