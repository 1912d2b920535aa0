# This Dockerfile is a template: it may need editing before it fits your project.

FROM maven:3-eclipse-temurin-21 AS build
WORKDIR /src

# Dependencies change less often than code: fetched apart, they stay cached.
COPY pom.xml ./
RUN mvn --batch-mode dependency:go-offline
COPY src ./src
RUN mvn --batch-mode package -DskipTests

FROM eclipse-temurin:21-jre
RUN useradd --system --no-create-home app
COPY --from=build /src/target/*.jar /app.jar
USER app
EXPOSE 8080
CMD ["java", "-jar", "/app.jar"]
