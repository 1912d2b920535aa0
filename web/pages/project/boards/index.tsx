/** The first board of a project, which the API creates if there is none. */
export { page } from './[board_id].tsx'
