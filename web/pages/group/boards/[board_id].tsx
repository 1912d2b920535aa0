/** A board of a group: issues of all its projects. */
import { Board, type BoardData } from '../../../components/boards/Board.tsx'
import { boardActions, loadBoard } from '../../../components/boards/board.ts'
import { belowGroup, groupFrame, type InGroup } from '../../../layout/group.tsx'
import { GroupPlanningTabs } from '../../../layout/planning.tsx'
import { page as declare } from '../../../page.ts'
import * as t from '../../../texts/planning.ts'

export const page = declare<BoardData, InGroup>({
  frame: groupFrame,
  load: (request) => loadBoard('group', request, request.params.board_id ?? null),
  title: ({ board }) => board?.name ?? t.board,
  live: ({ group }) => ({ path: `/groups/${group.id}/live`, events: ['issue.created', 'issue.updated'] }),
  actions: boardActions('group'),
  View: ({ group, boards, board, columns, labels }) =>
    board && (
      <>
        <GroupPlanningTabs group={group} at="boards" />
        <Board
          {...{ boards, board, columns, labels }}
          at={(rest) => belowGroup(group, rest)}
          mayPlan={group.can.planBoards}
          mayAdd={false}
        />
      </>
    ),
})
