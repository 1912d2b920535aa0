import { z } from 'zod'
import { entity } from '../../../api/wire.ts'
import type { Row } from '../../../store/database.ts'
import { SimpleProjectEntity, type SimpleProjectRecord } from '../../projects/projects/entity.ts'
import { BasicLabelEntity, presentBasicLabel } from '../labels/entity.ts'
import type { Label } from '../labels/model.ts'
import type { Board, BoardList } from './model.ts'

export const BoardListEntity = entity({
  id: z.int(),
  label: BasicLabelEntity,
  position: z.int(),
}).meta({ id: 'BoardList' })

export const BoardEntity = entity({
  id: z.int(),
  name: z.string(),
  hide_backlog_list: z.boolean(),
  hide_closed_list: z.boolean(),
  /** Exactly one of the two: the owner of the board. */
  project: SimpleProjectEntity.optional(),
  group: entity({ id: z.int(), name: z.string(), web_url: z.string() }).optional(),
  lists: z.array(BoardListEntity),
}).meta({ id: 'Board' })

export type BoardRecord = z.infer<typeof BoardEntity>

export interface LoadedList extends BoardList {
  readonly label: Label
  /** Starts at 0, without gaps. */
  readonly index: number
}

export interface LoadedBoard extends Board {
  readonly lists: readonly LoadedList[]
}

export const presentList = ({ id, label, index }: LoadedList): z.infer<typeof BoardListEntity> => ({
  id,
  label: presentBasicLabel(label),
  position: index,
})

export interface BoardSurroundings {
  readonly url: string
  readonly group: Row<'namespaces'>
  /** Null: a board of a group. */
  readonly project: SimpleProjectRecord | null
}

export function presentBoard(board: LoadedBoard, { url, group, project }: BoardSurroundings): BoardRecord {
  return {
    id: board.id,
    name: board.name,
    hide_backlog_list: board.hide_backlog_list,
    hide_closed_list: board.hide_closed_list,
    ...(project
      ? { project }
      : { group: { id: group.id, name: group.name, web_url: `${url}/groups/${group.full_path}` } }),
    lists: board.lists.map(presentList),
  }
}
