/** Boards of a group: the first one, which the API makes where there is none. */
export { page } from './[board_id].tsx'
