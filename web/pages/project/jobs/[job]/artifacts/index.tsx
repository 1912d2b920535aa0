export { artifactPage as page } from './ArtifactBrowser.tsx'
