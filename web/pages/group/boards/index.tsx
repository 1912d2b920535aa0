/** The first board of a group, which the API creates if there is none. */
export { page } from './[board_id].tsx'
