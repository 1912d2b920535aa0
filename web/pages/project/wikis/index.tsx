/** The home page of the wiki, or a prompt to create it. */
export { page } from './[...path].tsx'
