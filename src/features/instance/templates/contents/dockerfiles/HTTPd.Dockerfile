# This Dockerfile is a template: it may need editing before it fits your project.

# Serves the files of public/ with Apache.
FROM httpd:2.4-alpine
COPY ./public/ /usr/local/apache2/htdocs/
EXPOSE 80
