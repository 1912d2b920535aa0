/** The wiki begins at its home page, or with the invitation to write it. */
export { page } from './[...path].tsx'
